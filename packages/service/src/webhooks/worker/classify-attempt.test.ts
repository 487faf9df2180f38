import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProfile, RETRY_DELAYS_SECONDS } from '@agent-exchange/protocol'
import fc from 'fast-check'
import { secondsBetween } from '@agent-exchange/server/clock'
import {
  type AttemptResult,
  type AttemptContext,
  ERROR_CLASSES,
  type ErrorClass,
  classifyAttempt,
} from './classify-attempt.ts'
import { JITTER_SHARE, MAXIMUM_JITTER_SECONDS } from './webhook-limits.ts'

const NOW = '2026-03-02T08:00:00.000Z'

function profileWith(rules: Record<string, string> = {}) {
  const created = createProfile({ 'O-33': rules })
  assert.ok(created.ok)
  return created.profile
}
const profile = profileWith()
const context = (changes: Partial<AttemptContext> = {}): AttemptContext => ({
  attempt: 1,
  now: NOW,
  profile,
  jitter: 0,
  ...changes,
})
const answer = (status: number, retryAfter?: string): AttemptResult => ({
  kind: 'answer',
  status,
  retryAfter,
})
const error = (errorClass: ErrorClass): AttemptResult => ({ kind: 'error', errorClass })
const outcome = (result: AttemptResult, changes?: Partial<AttemptContext>) =>
  classifyAttempt(result, context(changes)).outcome
function waitOf(result: AttemptResult, changes?: Partial<AttemptContext>): number {
  const verdict = classifyAttempt(result, context(changes))
  assert.equal(verdict.outcome, 'retry')
  return verdict.outcome === 'retry' ? secondsBetween(NOW, verdict.at) : Number.NaN
}

test('[EVT-08] every status gets the outcome of the table', () => {
  const retried = new Set([408, 425, 429])
  for (let status = 100; status < 1_000; status++) {
    const expected =
      status >= 200 && status < 300
        ? 'delivered'
        : status === 410
          ? 'endpoint_gone'
          : (status >= 300 && status < 400) || (status >= 400 && status < 500 && !retried.has(status))
            ? 'failed'
            : 'retry'
    assert.equal(outcome(answer(status)), expected, String(status))
  }
})

test('[EVT-08] a failed connection is retried; a blocked address is not (O-33)', () => {
  for (const errorClass of ERROR_CLASSES) {
    assert.equal(
      outcome(error(errorClass)),
      errorClass === 'blocked_address' ? 'failed' : 'retry',
      errorClass,
    )
  }
})

test('[EVT-08] redirects, TLS failures and blocked addresses follow the profile (O-33)', () => {
  const other = profileWith({ redirect: 'retry', tls_failure: 'permanent', blocked_address: 'retry' })
  assert.equal(outcome(answer(302), { profile: other }), 'retry')
  assert.equal(outcome(error('tls'), { profile: other }), 'failed')
  assert.equal(outcome(error('blocked_address'), { profile: other }), 'retry')
  assert.equal(outcome(answer(302), { profile: other, attempt: 7 }), 'dead')
})

test('[EVT-07][EVT-08] attempt 7 is the last: a retryable failure becomes dead, all other outcomes stay the same', () => {
  for (const result of [answer(500), answer(429, '1'), answer(408), error('timeout'), error('lost')]) {
    assert.equal(outcome(result, { attempt: 7 }), 'dead')
  }
  assert.deepEqual(
    [204, 410, 404, 301].map((status) => outcome(answer(status), { attempt: 7 })),
    ['delivered', 'endpoint_gone', 'failed', 'failed'],
  )
})

test('[EVT-07] each delay is at least its minimum, and jitter adds a bounded amount', () => {
  for (const [index, delay] of RETRY_DELAYS_SECONDS.entries()) {
    const attempt = index + 1
    assert.equal(waitOf(answer(500), { attempt }), delay)
    const longest = waitOf(answer(500), { attempt, jitter: 1 })
    assert.equal(longest, delay + Math.min(delay * JITTER_SHARE, MAXIMUM_JITTER_SECONDS))
  }
  const jitter = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), jitter, (attempt, share) => {
      const wait = waitOf(answer(503), { attempt, jitter: share })
      const delay = RETRY_DELAYS_SECONDS[attempt - 1] ?? 0
      return wait >= delay && wait <= delay + MAXIMUM_JITTER_SECONDS
    }),
  )
})

test('[EVT-08] Retry-After on 429 and 503: the later of it and the backoff, at most 24 hours', () => {
  const inAnHour = 'Mon, 02 Mar 2026 09:00:00 GMT'
  for (const status of [429, 503]) {
    assert.equal(waitOf(answer(status, '10')), 30, 'earlier than the backoff')
    assert.equal(waitOf(answer(status, '31')), 31)
    assert.equal(waitOf(answer(status, inAnHour)), 3_600)
    assert.equal(waitOf(answer(status, inAnHour), { attempt: 5 }), 21_600, 'earlier than the backoff')
    assert.equal(waitOf(answer(status, '86401')), 86_400)
    assert.equal(waitOf(answer(status, '9'.repeat(400))), 86_400)
    assert.equal(waitOf(answer(status, 'Tue, 02 Mar 2027 09:00:00 GMT')), 86_400)
    assert.equal(waitOf(answer(status, 'soon')), 30)
    assert.equal(waitOf(answer(status, '3600'), { jitter: 1 }), 3_600, 'kept to the letter')
  }
  for (const status of [500, 502, 504, 408, 425]) assert.equal(waitOf(answer(status, '3600')), 30)
})
