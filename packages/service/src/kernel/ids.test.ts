import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomId } from './ids.ts'

test('[OBJ-01] ids have their prefix and 128 random bits, and never come twice, also across draws', () => {
  const ids = Array.from({ length: 2_000 }, () => randomId('pkg'))
  for (const id of ids) assert.match(id, /^pkg_[0-9a-f]{32}$/)
  assert.equal(new Set(ids).size, ids.length)
  // Nor do two share a half: no byte of the pool is used for two ids.
  assert.equal(new Set(ids.flatMap((id) => [id.slice(4, 20), id.slice(20)])).size, 2 * ids.length)
})
