import assert from 'node:assert/strict'
import { join } from 'node:path'
import { judgeObjects } from '../../packages/conformance/src/objects/judge-objects.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import type { TrialTools } from '../shared/trial-parts.ts'

const vectors = join(ROOT, 'interop/vectors/objects')
const failed = async (command: readonly string[]) =>
  (await judgeObjects({ command, vectors })).filter(({ verdict }) => verdict === 'fail')

/** `aex validate` passes; validators that accept or refuse everything do not. */
export async function tryValidators({ report }: TrialTools): Promise<void> {
  await report.step('objects', 'aex validate passes', async () => {
    const command = [process.execPath, join(ROOT, 'packages/cli/bin/aex.js'), 'validate']
    assert.deepEqual(await failed(command), [])
    return 'every committed object got its verdict'
  })
  await report.step('objects', 'a validator that accepts everything fails', async () => {
    const found = await failed(['true'])
    assert.ok(found.length > 0 && found.every(({ name }) => name.startsWith('objects/invalid/')))
    return `${found.length} objects accepted wrongly`
  })
  await report.step('objects', 'a validator that refuses everything fails', async () => {
    const found = await failed(['false'])
    assert.ok(found.length > 0 && found.every(({ name }) => name.startsWith('objects/valid/')))
    return `${found.length} objects refused wrongly`
  })
}
