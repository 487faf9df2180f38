import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkpointFile, type CheckpointFile } from './checkpoint-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-checkpoint-'))
after(() => rmSync(folder, { recursive: true }))
const readSize = async (file: CheckpointFile) => {
  const read = await file.read('log.example')
  return read === 'ended' ? read : read && [read.size, read.root[0]]
}
const head = (size: number, byte = size) => ({
  origin: 'log.example',
  size,
  root: new Uint8Array(32).fill(byte),
})

test('the largest checkpoint is remembered, whatever order processes write in', async () => {
  const [one, other] = [checkpointFile(folder), checkpointFile(folder)]
  assert.equal(await readSize(one), undefined)
  await Promise.all([5, 3, 9, 7].map((size, at) => (at % 2 === 0 ? one : other).write(head(size))))
  await other.write(head(8))
  assert.deepEqual(await readSize(one), [9, 9])
  assert.deepEqual(await readSize(other), [9, 9])
})

test('[AUD-03] a second root of a remembered size is refused before anything is signed', async () => {
  const file = checkpointFile(folder)
  await file.write(head(20))
  await file.write(head(20))
  await assert.rejects(file.write(head(20, 99)), /another root of this size/u)
  assert.deepEqual(await readSize(file), [20, 20])
  const files = readdirSync(join(folder, 'log-checkpoints'), { recursive: true }).map(String)
  assert.deepEqual(files.filter((name) => name.includes('/')).length, 1)
})

test('[AUD-03] a log that another one replaced on this machine is never signed again', async () => {
  const file = checkpointFile(folder)
  await file.write({ ...head(3), origin: 'log.example-2' })
  assert.equal(await readSize(file), 'ended')
  assert.notEqual(await file.read('log.example-2'), 'ended')
  assert.equal(await file.read('log.example-3'), undefined)
})
