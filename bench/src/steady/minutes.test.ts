import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plotMinutes, ratiosOf, windowsOf, type Minute } from './minutes.ts'

const minutes = (count: number): Minute[] =>
  Array.from({ length: count }, (_, i) => ({
    perSecond: 1_000 - i,
    p50Ms: 5,
    p99Ms: 20 + i,
    megabytes: 300,
    databaseMegabytes: 100 * i,
    removed: 0,
  }))

test('windows are a sixth of the run, and the warm-up is in none of them', () => {
  const thirty = windowsOf(minutes(30))
  assert.deepEqual([thirty.first.length, thirty.first[0]?.p99Ms], [5, 25])
  assert.deepEqual([thirty.last.length, thirty.last[0]?.p99Ms], [5, 45])
  const six = windowsOf(minutes(6))
  assert.deepEqual([six.first, six.last], [minutes(6).slice(1, 2), minutes(6).slice(5)])
  assert.throws(() => windowsOf(minutes(2)), /at least 3/u)
})

test('the last window is compared with the first one after the warm-up', () => {
  const [throughput, p99, memory] = ratiosOf(minutes(6))
  assert.equal(throughput?.value, 995 / 999)
  assert.equal(p99?.value, 25 / 21)
  assert.equal(memory?.value, 1)
})

test('the plot has a panel for speed, latency, memory and disk', () => {
  const svg = plotMinutes(minutes(6))
  assert.equal([...svg.matchAll(/font-weight="600"/gu)].length, 4)
  assert.match(svg, /minute 1 to 6/u)
})
