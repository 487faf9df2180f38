import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type InvalidObject, readFolder, type VectorFile } from '../../vector-file.ts'
import type { Report } from './report.ts'

const FOLDER = join(import.meta.dirname, '..')
const SCHEMAS = join(FOLDER, '../../packages/protocol/schemas')
const AT_ONCE = 4

interface Stage {
  readonly python: string
  readonly folder: string
  readonly report: Report
}

/** Checks the schema validator and the canonical JSON of the agent with the published vectors. */
export async function judgeVectors({ python, folder, report }: Stage): Promise<void> {
  const run = (script: string, ...args: string[]) => execute(python, [join(FOLDER, script), ...args])
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
        const { ok } = await run('schemas.py', SCHEMAS, file(name, JSON.stringify(object)))
        assert.equal(ok, expected, name)
      })
    },
  )

  const vectors = readFolder<VectorFile>('.').get('canonical-json')?.vectors ?? []
  await report.step('its canonical JSON matches the vectors, or it rejects the input', async () => {
    let written = 0
    await each(vectors, async (vector) => {
      const { text, bytes } = vector.input as { text?: string; bytes?: string }
      const path = file(vector.name, text ?? Buffer.from(bytes ?? '', 'base64url'))
      const { ok, stdout } = await run('canonical.py', `@${path}`)
      if (!ok) return
      written++
      assert.equal(vector.expect, 'valid', vector.name)
      assert.equal(stdout, (vector as { output?: { canonical?: string } }).output?.canonical, vector.name)
    })
    assert.ok(written > 0)
  })
}

/** Limited concurrency, because each call is a process. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(work))
  }
}

function execute(python: string, args: readonly string[]): Promise<{ ok: boolean; stdout: string }> {
  return new Promise((resolve, reject) => {
    execFile(python, ['-B', ...args], (error, stdout, stderr) => {
      if (stderr.includes('Traceback')) reject(new Error(stderr))
      else resolve({ ok: error === null, stdout })
    })
  })
}
