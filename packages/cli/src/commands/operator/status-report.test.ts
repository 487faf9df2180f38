import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusReport, type Overview } from './status-report.ts'

const point = {
  packages_accepted: 1_000_000,
  deliveries_delivered: 3,
  deliveries_failed: 0,
  deliveries_dead: 0,
  problems_4xx: 0,
  problems_5xx: 0,
  acceptance_p99: 12.5,
  delivery_p99: null,
}
const overview: Overview = {
  status: 'degraded',
  now: '2026-03-02T08:00:00.000Z',
  issues: [
    { severity: 'warn', text: `Witnesses do not cosign: \u001b[31m${'long-name.example, '.repeat(12)}.` },
  ],
  backlog: { oldest_due_at: '2026-03-02T07:58:00.000Z', pending: 9_999 },
  dead_letters: 3,
  disabled_endpoints: [{}],
  keys: ['log', 'statement', 'token', 'webhook'].map((purpose) => ({
    purpose,
    valid_until: '2036-03-02T08:00:00.000Z',
  })),
  database_bytes: 12_345_678_901,
  replication: 'asynchronous',
  processes: Array.from({ length: 30 }, () => ({ role: 'worker', disk_free_bytes: 5e9 })),
  log: { state: 'running', size: 1e9, published_size: 1e9, witnesses: [{ outcome: 'failed' }] },
  hour: Array.from({ length: 30 }, (_, index) => ({ ...point, packages_accepted: index })),
  day: Array.from({ length: 48 }, () => point),
}

test('the report has at most 80 columns, and obeys nothing that others wrote', () => {
  const report = statusReport(overview)
  for (const line of report.split('\n')) assert.ok(line.length <= 80, line)
  assert.ok(!report.includes('\u001b'))
  assert.match(report, /^! degraded {2}2026-03-02 08:00 UTC\n {2}! Witnesses do not cosign/u)
  assert.match(report, /\nprocesses {9}30 worker\n/u)
  assert.match(report, /\ndatabase .*, asynchronous replication\n/u)
  assert.match(report, /\nbacklog {11}120 s old, 9999 pending\n/u)
})

test('sums of the counters and the highest latency are shown beside a curve of the last hour', () => {
  const report = statusReport(overview)
  assert.match(report, /\npackages +435 +48000000 {3}▁+▂+▃+▄+▅+▆+▇+█+\n/u)
  assert.match(report, /\naccept p99, ms +13 +13 {2}█{30}\n/u)
  assert.match(report, /\ndeliver p99, ms +0 +0$/u)
})
