import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { BUSY, FILL, needsOf, PEAK } from './needs.ts'

const measured = {
  apiMs: 6,
  workerMs: 3,
  databaseMs: 9,
  walBytes: 50_000,
  stored: { content: 12_000, deliveries: 1_000, notifications: 1_000, retries: 2_000, evidence: 20_000 },
}

test('needs grow with the packages a day, and retention limits all but evidence', () => {
  const needs = needsOf(864_000, measured, DEFAULT_PROFILE['O-18'])
  assert.equal(needs.peakPerSecond, 10 * PEAK)
  assert.equal(needs.cores.database.toFixed(6), ((10 * PEAK * 9) / 1_000 / BUSY).toFixed(6))
  assert.equal(needs.walBytesPerDay, 864_000 * 50_000)
  // Content: 30 days valid and 30 more; deliveries and notifications 90; retries 30.
  const limited = 12_000 * 60 + 1_000 * 90 + 1_000 * 90 + 2_000 * 30
  assert.equal(needs.limitedBytes, 864_000 * limited * FILL)
  assert.equal(needs.evidenceBytesPerYear, 864_000 * 20_000 * 365 * FILL)
  const short = needsOf(864_000, measured, { ...DEFAULT_PROFILE['O-18'], notification_days: 1 })
  assert.ok(short.limitedBytes < needs.limitedBytes)
  assert.equal(short.evidenceBytesPerYear, needs.evidenceBytesPerYear)
})
