import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type InvalidObject, readFolder } from '../../vector-file.ts'
import type { Report } from './report.ts'

const PACKAGES = join(import.meta.dirname, '../../python')
const SCHEMAS = join(import.meta.dirname, '../../../packages/protocol/schemas')
const AT_ONCE = 4

interface Stage {
  readonly python: string
  readonly folder: string
  readonly report: Report
}

/** Checks the schema validator of the agent with the published objects. */
export async function judgeVectors({ python, folder, report }: Stage): Promise<void> {
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name.replaceAll('/', '-'))
    writeFileSync(path, content)
    return path
  }

  const valid = readFolder<object>('objects/valid')
  const invalid = readFolder<InvalidObject>('objects/invalid')
  await report.step(
    `it takes ${valid.size} valid objects and refuses ${invalid.size} invalid ones`,
    async () => {
      const objects = [...valid].map(([name, object]) => ({ name, object, expected: true }))
      const broken = [...invalid].map(([name, { object }]) => ({ name, object, expected: false }))
      await each([...objects, ...broken], async ({ name, object, expected }) => {
        const { ok } = await execute(python, [
          '-m',
          'agent_exchange.schemas',
          SCHEMAS,
          file(name, JSON.stringify(object)),
        ])
        assert.equal(ok, expected, name)
      })
    },
  )
}

/** Limited concurrency, because each call is a process. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(work))
  }
}

function execute(python: string, args: readonly string[]): Promise<{ ok: boolean }> {
  return new Promise((resolve, reject) => {
    execFile(
      python,
      ['-B', ...args],
      { env: { ...process.env, PYTHONPATH: PACKAGES } },
      (error, _, stderr) => {
        if (stderr.includes('Traceback')) reject(new Error(stderr))
        else resolve({ ok: error === null })
      },
    )
  })
}
