import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkArrivals, checkFlat, checkLatency } from './steady-checks.ts'
import type { Day } from './steady-day.ts'

/** The first 12 days are the warm-up, followed by three thirds of six days. */
const daysOf = (change: (index: number) => Partial<Day>): Day[] =>
  Array.from({ length: 30 }, (_, index) => ({
    number: index + 1,
    sent: 60,
    arrived: 60,
    p50: 10,
    p99: 20,
    stolen: 0,
    limitedBytes: 1_000_000,
    evidenceBytes: 1_000_000,
    partitions: 10,
    dropped: 1,
    ...change(index),
  }))

test('a p99 that grows with the data fails', () => {
  const check = checkLatency(daysOf((index) => ({ p99: index < 12 ? 20 : 20 + 6 * (index - 12) })))
  assert.equal(check.passes, false, check.text)
  assert.match(check.text, /110\.0 ms \(6 days\) to 38\.0 ms/u)
})

test('single slow days, a slow warm-up and the noise of small values do not fail', () => {
  const slowDays = new Set([13, 25, 28])
  assert.ok(checkLatency(daysOf((index) => ({ p99: slowDays.has(index) ? 900 : 20 }))).passes)
  assert.ok(checkLatency(daysOf((index) => ({ p99: index < 12 ? 500 : 20 }))).passes)
  assert.ok(checkLatency(daysOf((index) => ({ p99: index < 18 ? 8 : 30 }))).passes)
  assert.ok(checkLatency(daysOf(() => ({})).slice(0, 15)).passes, 'too short a run')
})

test('days without enough CPU are not compared, and a run with nothing else says so', () => {
  const slow = (index: number) => ({ p99: index < 26 ? 20 : 900 })
  assert.equal(checkLatency(daysOf((index) => slow(index))).passes, false)
  assert.ok(
    checkLatency(daysOf((index) => ({ ...slow(index), stolen: index < 26 ? 0 : 0.2 }))).passes,
    'two calm days',
  )
  const none = checkLatency(daysOf((index) => ({ ...slow(index), stolen: 0.2 })))
  assert.match(none.text, /not compared/u)
})

test('limited tables that grow after the warm-up fail', () => {
  assert.ok(checkFlat(daysOf((index) => ({ limitedBytes: index < 12 ? index * 1e5 : 1e6 }))).passes)
  assert.equal(checkFlat(daysOf((index) => ({ limitedBytes: index * 1e6 }))).passes, false)
})

test('a webhook that does not arrive fails', () => {
  assert.ok(checkArrivals(60, 60).passes)
  assert.equal(checkArrivals(60, 59).passes, false)
})
