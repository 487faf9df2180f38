import assert from 'node:assert/strict'
import { join } from 'node:path'
import { judgeCapsules } from '../../packages/conformance/src/capsules/judge-capsules.ts'
import { judgeObjects } from '../../packages/conformance/src/objects/judge-objects.ts'
import { REQUIREMENTS } from '../../packages/conformance/src/requirements/index.ts'
import type { CheckResult } from '../../packages/conformance/src/run/check.ts'
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
const judgedObjects = (command: readonly string[]) =>
  judgeObjects({ command, vectors: join(VECTORS, 'objects') })
const isWrong = ({ verdict }: CheckResult) => verdict === 'fail'
const idsOf = (results: readonly CheckResult[]) => [...new Set(results.flatMap(({ ids }) => ids))].toSorted()
const OF_OBJECTS = REQUIREMENTS.filter(({ judgedOf }) => judgedOf.includes('objects')).map(({ id }) => id)

/** `aex validate` passes; validators that accept or refuse everything do not. */
export async function tryValidators({ report }: TrialTools): Promise<void> {
  await report.step('objects', 'aex validate passes', async () => {
    assert.deepEqual((await judgedObjects(aex('validate', '--lines'))).filter(isWrong), [])
    return 'every committed object got its verdict'
  })
  await report.step('objects', 'a validator that accepts everything fails', async () => {
    const found = (await judgedObjects(always({ valid: true }))).filter(isWrong)
    assert.ok(found.every(({ name }) => name.startsWith('objects/invalid/')))
    assert.deepEqual(idsOf(found), OF_OBJECTS.toSorted())
    return `${found.length} objects accepted wrongly, of ${OF_OBJECTS.length} ids`
  })
  await report.step('objects', 'a validator that refuses everything fails', async () => {
    const results = await judgedObjects(always({ valid: false }))
    const isValid = ({ name }: CheckResult) => name.startsWith('objects/valid/')
    const found = results.filter(isWrong)
    assert.ok(found.length > 0)
    assert.deepEqual(found, results.filter(isValid))
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
