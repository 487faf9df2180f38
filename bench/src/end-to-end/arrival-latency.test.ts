import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrivalLatencies } from './arrival-latency.ts'

const sent = [
  { packageId: 'pkg_a', at: 1_000 },
  { packageId: 'pkg_b', at: 1_100 },
]
const arrival = (packageId: string, at: number) => ({
  deliveryId: `dlv_${packageId}_${at}`,
  packageId,
  at,
  isHealthy: true,
})

test('the latency of every webhook starts at the due time of its package', () => {
  const arrivals = [
    arrival('pkg_b', 1_130),
    arrival('pkg_a', 1_010),
    arrival('pkg_a', 1_300),
    arrival('pkg_b', 1_120),
  ]
  assert.deepEqual(arrivalLatencies(sent, arrivals, { fanOut: 2, rampMs: 0 }), {
    latencies: [30, 10, 300, 20],
    deliveries: 4,
    firstSend: 1_000,
    lastSend: 1_100,
    lastArrival: 1_300,
  })
})

test('the ramp-up has no latencies, but its deliveries are counted; webhooks of an earlier run are not', () => {
  const arrivals = [arrival('pkg_a', 1_010), arrival('pkg_b', 1_150), arrival('pkg_earlier', 2_000)]
  const { latencies, deliveries, lastArrival } = arrivalLatencies(sent, arrivals, { fanOut: 1, rampMs: 50 })
  assert.deepEqual([latencies, deliveries, lastArrival], [[50], 2, 1_150])
})

test('a missing delivery is an error', () => {
  assert.throws(
    () => arrivalLatencies(sent, [arrival('pkg_a', 1_010)], { fanOut: 1, rampMs: 0 }),
    /1 of 2 deliveries arrived/,
  )
})
