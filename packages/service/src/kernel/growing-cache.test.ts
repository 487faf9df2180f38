import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growingCache } from './growing-cache.ts'

test('a growing cache keeps its maximum of entries, the latest used', () => {
  const cache = growingCache<number>(3)
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index)
  cache.get('a')
  cache.set('d', 3)
  assert.deepEqual([...cache.keys()].toSorted(), ['a', 'c', 'd'])
  assert.equal(cache.size, 3)
})
