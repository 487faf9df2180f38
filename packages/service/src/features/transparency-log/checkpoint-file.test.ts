import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkpointFile } from './checkpoint-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-checkpoint-'))
after(() => rmSync(folder, { recursive: true }))
const head = (size: number, byte = size) => ({
  origin: 'log.example',
  size,
  root: new Uint8Array(32).fill(byte),
})

test('the largest checkpoint is remembered, whatever order processes write in', async () => {
  const [one, other] = [checkpointFile(folder), checkpointFile(folder)]
  assert.equal(await one.read(), undefined)
  await Promise.all([5, 3, 9, 7].map((size, at) => (at % 2 === 0 ? one : other).write(head(size))))
  await other.write(head(8))
  assert.equal((await one.read())?.size, 9)
  assert.deepEqual(Buffer.from((await other.read())?.root ?? []), Buffer.alloc(32, 9))
})

test('[AUD-03] a second root of a remembered size is refused before anything is signed', async () => {
  const file = checkpointFile(folder)
  await file.write(head(20))
  await file.write(head(20))
  await assert.rejects(file.write(head(20, 99)), /another root of this size/u)
  assert.deepEqual(Buffer.from((await file.read())?.root ?? []), Buffer.alloc(32, 20))
  assert.deepEqual(readdirSync(join(folder, 'log-checkpoints')), ['0000000000000020'])
})
