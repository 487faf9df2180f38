import assert from 'node:assert/strict'
import { join } from 'node:path'
import { judgeCapsules } from '../../packages/conformance/src/capsules/judge-capsules.ts'
import { judgeObjects } from '../../packages/conformance/src/objects/judge-objects.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import type { TrialTools } from '../shared/trial-parts.ts'

const VECTORS = join(ROOT, 'interop/vectors')
const aex = (...words: string[]) => [process.execPath, join(ROOT, 'packages/cli/bin/aex.js'), ...words]
/** A program that gives every line the same answer. */
const always = (answer: object) => [
  process.execPath,
  '-e',
  `require('node:readline').createInterface({ input: process.stdin }).on('line', () => console.log('${JSON.stringify(answer)}'))`,
]
const wrongObjects = async (command: readonly string[]) =>
  (await judgeObjects({ command, vectors: join(VECTORS, 'objects') })).filter(
    ({ verdict }) => verdict === 'fail',
  )

/** `aex validate` passes; validators that accept or refuse everything do not. */
export async function tryValidators({ report }: TrialTools): Promise<void> {
  await report.step('objects', 'aex validate passes', async () => {
    assert.deepEqual(await wrongObjects(aex('validate', '--lines')), [])
    return 'every committed object got its verdict'
  })
  await report.step('objects', 'a validator that accepts everything fails', async () => {
    const found = await wrongObjects(always({ valid: true }))
    assert.ok(found.length > 0 && found.every(({ name }) => name.startsWith('objects/invalid/')))
    return `${found.length} objects accepted wrongly`
  })
  await report.step('objects', 'a validator that refuses everything fails', async () => {
    const found = await wrongObjects(always({ valid: false }))
    assert.ok(found.length > 0 && found.every(({ name }) => name.startsWith('objects/valid/')))
    return `${found.length} objects refused wrongly`
  })
}

/** `aex verify` passes; a verifier that calls every capsule proven does not. */
export async function tryVerifiers({ report }: TrialTools): Promise<void> {
  await report.step('capsules', 'aex verify passes', async () => {
    const results = await judgeCapsules({ command: aex('verify', '--lines'), vectors: VECTORS })
    assert.deepEqual(
      results.filter(({ verdict }) => verdict === 'fail').map(({ reason }) => reason),
      [],
    )
    return `${results.length} capsules got their verdict`
  })
  await report.step('capsules', 'a verifier that calls every capsule proven fails', async () => {
    const results = await judgeCapsules({ command: always({ word: 'proven' }), vectors: VECTORS })
    const found = results.filter(({ verdict }) => verdict === 'fail')
    assert.ok(found.length > 0 && found.length < results.length)
    return `${found.length} capsules judged wrongly`
  })
}
