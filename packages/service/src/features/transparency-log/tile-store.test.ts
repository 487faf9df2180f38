import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queries } from '@agent-exchange/database'
import { cachedTiles } from './tile-store.ts'

const NAME = { level: 0, index: 0, width: 1 } as const
const [DAMAGED, RESTORED] = [Uint8Array.of(1), Uint8Array.of(2)]

test('[AUD-01] tiles are kept once a proof from them was verified, also if reads go on after it failed', async () => {
  let stored = DAMAGED
  let reads = 0
  const queries = (async () => {
    reads += 1
    return [{ bytes: stored }]
  }) as unknown as Queries
  const tiles = cachedTiles(queries)
  const late: Promise<unknown>[] = []
  const failing = tiles.use(async (readTile) => {
    late.push(Promise.resolve().then(() => readTile(NAME)))
    throw new Error('the proof does not verify')
  })
  await assert.rejects(failing, /does not verify/u)
  await Promise.all(late)

  stored = RESTORED
  assert.equal(await tiles.use(async (readTile) => readTile(NAME)), RESTORED)
  const before = reads
  assert.equal(await tiles.use(async (readTile) => readTile(NAME)), RESTORED)
  assert.equal(reads, before)
  tiles.forget()
  await tiles.use(async (readTile) => readTile(NAME))
  assert.equal(reads, before + 1)
})
