import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderedId, randomId, timeOfId } from './ids.ts'

test('[OBJ-01] ids have their prefix and 128 random bits, and are unique, also across refills of the pool', () => {
  const ids = Array.from({ length: 2_000 }, () => randomId('pkg'))
  for (const id of ids) assert.match(id, /^pkg_[0-9a-f]{32}$/)
  assert.equal(new Set(ids).size, ids.length)
  // No two share a half: no byte of the pool is used for two ids.
  assert.equal(new Set(ids.flatMap((id) => [id.slice(4, 20), id.slice(20)])).size, 2 * ids.length)
})

test('[OBJ-01] ordered ids sort by their time, have 80 random bits, and are unique', () => {
  const times = ['1970-01-01T00:00:00.001Z', '2026-11-15T12:00:00.000Z', '2026-11-15T12:00:00.001Z']
  const ids = times.flatMap((time) => Array.from({ length: 1_000 }, () => orderedId('ntf', time)))
  for (const id of ids) assert.match(id, /^ntf_[0-9a-f]{32}$/)
  assert.equal(new Set(ids.map((id) => id.slice(-20))).size, ids.length)
  assert.deepEqual(
    times.flatMap((_, index) => ids.slice(1_000 * index, 1_000 * (index + 1)).toSorted()),
    ids.toSorted(),
  )
})

test('the time of an ordered id can be read again; other text has none', () => {
  for (const time of ['1970-01-01T00:00:00.001Z', '2026-11-15T12:00:00.123Z'])
    assert.equal(timeOfId('evt', orderedId('evt', time)), time)
  const id = orderedId('evt', '2026-11-15T12:00:00.123Z')
  for (const other of ['', 'evt_', id.slice(1), id.slice(0, -1), `${id}0`, id.toUpperCase(), `x${id}`])
    assert.equal(timeOfId('evt', other), undefined)
  assert.equal(timeOfId('ntf', id), undefined)
  assert.equal(timeOfId('evt', `evt_${'f'.repeat(32)}`), undefined)
})
