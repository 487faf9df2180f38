import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'
import { applyResults } from './endpoint-health.ts'

const START = '2026-03-02T08:00:00.000Z'
const HEALTHY = { failing_since: null, last_error: null, failure_alerted_at: null, failed_alerted_at: null }
const RESULTS = {
  delivered: [{ outcome: 'delivered' }, { status: 204 }],
  retry: [{ outcome: 'retry', at: START, reason: 'status 500' }, { status: 500 }],
  failed: [{ outcome: 'failed', reason: 'status 404' }, { status: 404 }],
  lost: [{ outcome: 'retry', at: START, reason: 'lost' }, { error_class: 'lost' }],
  unsigned: [
    { outcome: 'failed', reason: 'the ids cannot be signed' },
    { error: 'the ids cannot be signed' },
  ],
  gone: [{ outcome: 'endpoint_gone', reason: 'status 410' }, { status: 410 }],
} as const satisfies Record<string, readonly [FinishedAttempt['verdict'], FinishedAttempt['details']]>

function result(name: keyof typeof RESULTS, seconds: number): FinishedAttempt {
  const [verdict, details] = RESULTS[name]
  const at = secondsAfter(START, seconds)
  return {
    deliveryId: `dlv_${seconds}`,
    claimId: 1,
    endpointId: 'whe_1',
    organizationId: 'org_a',
    attempt: 1,
    hasAnswered: true,
    wasFailing: false,
    startedAt: at,
    finishedAt: at,
    verdict,
    details,
  }
}

const kinds = (results: readonly FinishedAttempt[], before: typeof HEALTHY | object = HEALTHY) =>
  applyResults({ ...HEALTHY, ...before }, results).alerts.map(({ kind, deliveryId }) => [kind, deliveryId])

test('an endpoint fails from the first failure after its last success', () => {
  const { health } = applyResults(HEALTHY, [result('retry', 0), result('delivered', 5), result('retry', 9)])
  assert.deepEqual([health.failing_since, health.last_error], [secondsAfter(START, 9), 'status 500'])
  assert.deepEqual(applyResults(health, [result('delivered', 20)]).health, HEALTHY)
})

test('[O-19] an endpoint that has failed for a minute is one alert, and another one after it has worked', () => {
  assert.deepEqual(kinds([result('retry', 0), result('retry', 59)]), [])
  assert.deepEqual(kinds([result('retry', 0), result('retry', 60), result('retry', 90)]), [
    ['endpoint_failing', 'dlv_60'],
  ])
  const again = [result('delivered', 100), result('retry', 110), result('retry', 170)]
  assert.deepEqual(kinds([result('retry', 0), result('retry', 60), ...again]), [
    ['endpoint_failing', 'dlv_60'],
    ['endpoint_failing', 'dlv_170'],
  ])
})

test('[O-19] permanent failures are one alert an hour, also if other deliveries succeed', () => {
  const alternating = [0, 10, 20].flatMap((at) => [result('failed', at), result('delivered', at + 5)])
  assert.deepEqual(kinds(alternating), [['delivery_failed', 'dlv_0']])
  assert.deepEqual(kinds([...alternating, result('failed', 3_600)]), [
    ['delivery_failed', 'dlv_0'],
    ['delivery_failed', 'dlv_3600'],
  ])
})

test('an attempt that a worker lost, or that could not be signed, is no failure of the endpoint', () => {
  const { health, alerts } = applyResults(HEALTHY, [result('lost', 0), result('unsigned', 90)])
  assert.equal(health.failing_since, null)
  assert.deepEqual(
    alerts.map(({ kind, reason }) => [kind, reason]),
    [['delivery_failed', 'attempt 1 failed permanently: the ids cannot be signed']],
  )
  assert.deepEqual(kinds([result('gone', 0)]), [])
})
