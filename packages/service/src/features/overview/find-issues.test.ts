import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationOf, findIssues } from './find-issues.ts'
import type { Facts } from './overview-facts.ts'
import { toSeries } from './activity-series.ts'

const now = '2026-03-02T08:00:00.000Z'
const process = {
  process_id: 'process_1',
  role: 'all',
  started_at: now,
  seen_at: now,
  certificate_expires_at: null,
  client_ca_expires_at: null,
  master_key_ids: null,
  disk_free_bytes: null,
  disk_total_bytes: null,
  code_level: 15,
}
const witness = { name: 'w', outcome: 'cosigned', size: 1, cosigned_at: now, tried_at: now }
const log = {
  origin: 'exchange.example',
  state: 'running',
  size: 1,
  published_size: 1,
  last_checkpoint_at: now,
  pending_leaves: 0,
  oldest_pending_seconds: 0,
  backfilled: true,
  sequencer: 'worker_1',
  witnesses: [witness],
}
const hour = toSeries([], { since: '2026-03-02T07:00:00.000Z', stepSeconds: 120, points: 30 })
const healthy: Facts = {
  now,
  processes: [process],
  backlog: {
    oldest_due_at: null,
    webhook_endpoint_id: null,
    waits_for_worker_since: null,
    waits_for_endpoint_since: null,
    slow_endpoint: null,
    pending: 0,
  },
  dead_letters: 0,
  failed_deliveries: 0,
  dead_letter_owners: [],
  failed_delivery_owners: [],
  disabled_endpoints: [],
  failing_endpoints: [],
  keys: [{ purpose: 'webhook', key_id: 'k', valid_until: '2027-03-02T08:00:00.000Z' }],
  expiring_clients: [],
  database_bytes: 1,
  replication: 'synchronous',
  has_several_database_hosts: false,
  log,
  hour,
  day: hour,
}

const backlogSince = (oldest_due_at: string, waitsFor: 'worker' | 'endpoint' = 'worker'): Partial<Facts> => ({
  backlog: {
    oldest_due_at,
    webhook_endpoint_id: 'whe_1',
    waits_for_worker_since: waitsFor === 'worker' ? oldest_due_at : null,
    waits_for_endpoint_since: waitsFor === 'endpoint' ? oldest_due_at : null,
    slow_endpoint:
      waitsFor === 'endpoint' ? { webhook_endpoint_id: 'whe_1', organization_name: 'Acme' } : null,
    pending: 3,
  },
})
const disabled = {
  webhook_endpoint_id: 'whe_1',
  organization_id: 'org_1',
  organization_name: 'Acme',
  status_reason: 'the receiver answered 410 Gone',
  disabled_at: now,
}

const failing = {
  webhook_endpoint_id: 'whe_1',
  organization_id: 'org_1',
  organization_name: 'Acme',
  failing_since: '2026-03-02T06:00:00.000Z',
  last_error: 'status 500',
}

const CASES: [Partial<Facts>, 'bad' | 'warn', RegExp, string][] = [
  [{ replication: 'asynchronous' }, 'warn', /not synchronous/u, '/#storage'],
  [
    { replication: 'none', has_several_database_hosts: true },
    'warn',
    /several hosts, but no standby is connected/u,
    '/#storage',
  ],
  [{ processes: [{ ...process, role: 'api' }] }, 'bad', /No process delivers/u, '/#processes'],
  [
    { processes: [process, { ...process, code_level: 14 }] },
    'warn',
    /1 process is of an older release/u,
    '/#processes',
  ],
  [{ log: { ...log, state: 'refusing' } }, 'bad', /log is refusing/u, '/log'],
  [{ log: { ...log, state: 'behind' } }, 'warn', /log is behind/u, '/log'],
  [{ log: { ...log, witnesses: [{ ...witness, outcome: 'failed' }] } }, 'warn', /do not cosign: w/u, '/log'],
  [backlogSince('2026-03-02T07:57:00.000Z'), 'warn', /waited for 3 minutes/u, '/deliveries?state=pending'],
  [backlogSince('2026-03-02T06:00:00.000Z'), 'bad', /waited for 2 hours/u, '/deliveries?state=pending'],
  [
    backlogSince('2026-03-02T06:00:00.000Z', 'endpoint'),
    'warn',
    /^The webhook endpoint of Acme is slow or has never answered: it is 2 hours behind\.$/u,
    '/endpoints/whe_1',
  ],
  [
    { dead_letters: 1, dead_letter_owners: ['Acme'] },
    'warn',
    /^1 delivery to Acme was given up/u,
    '/deliveries?state=dead',
  ],
  [
    { failed_deliveries: 9, failed_delivery_owners: ['Acme', 'Bolt', 'Coil', 'Dune'] },
    'warn',
    /^9 deliveries to Acme, Bolt and 2 more failed permanently/u,
    '/deliveries?state=failed',
  ],
  [
    { failing_endpoints: [failing] },
    'warn',
    /endpoint of Acme has failed for 2 hours: status 500\./u,
    '/endpoints/whe_1',
  ],
  [
    { failing_endpoints: [failing, { ...failing, failing_since: '2026-03-02T07:50:00.000Z' }] },
    'warn',
    /2 webhook endpoints fail, the longest of them \(Acme\) for 2 hours/u,
    '/#endpoints',
  ],
  [
    { disabled_endpoints: [disabled] },
    'warn',
    /^The webhook endpoint of Acme is disabled: the receiver answered 410 Gone\.$/u,
    '/endpoints/whe_1',
  ],
  [
    { disabled_endpoints: [disabled, disabled, { ...disabled, organization_name: 'Bolt' }] },
    'warn',
    /^3 webhook endpoints are disabled: of Acme and Bolt\.$/u,
    '/endpoints?status=disabled',
  ],
  [
    { processes: [{ ...process, certificate_expires_at: '2026-03-08T08:00:00.000Z' }] },
    'warn',
    /certificate expires in 6 days/u,
    '/settings',
  ],
  [
    { processes: [{ ...process, certificate_expires_at: '2026-03-01T08:00:00.000Z' }] },
    'bad',
    /certificate has expired/u,
    '/settings',
  ],
  [
    { processes: [{ ...process, client_ca_expires_at: '2026-03-04T08:00:00.000Z' }] },
    'warn',
    /certificate authority of clients expires in 2 days/u,
    '/settings',
  ],
  [
    {
      expiring_clients: [
        {
          client_id: 'client_1',
          organization_id: 'org_1',
          organization_name: 'Acme',
          certificate_expires_at: '2026-03-01T08:00:00.000Z',
        },
      ],
    },
    'warn',
    /certificate of client client_1 of Acme has expired/u,
    '/organizations/org_1',
  ],
  [
    { keys: [{ purpose: 'token', key_id: 'k', valid_until: '2026-03-03T08:00:00.000Z' }] },
    'warn',
    /token key ends in 24 hours/u,
    '/keys',
  ],
  [
    { processes: [{ ...process, disk_free_bytes: 8, disk_total_bytes: 100 }] },
    'warn',
    /8 % left/u,
    '/#storage',
  ],
  [
    { processes: [{ ...process, disk_free_bytes: 4, disk_total_bytes: 100 }] },
    'bad',
    /4 % left/u,
    '/#storage',
  ],
  [
    { hour: hour.map((point, index) => ({ ...point, problems_5xx: index === 29 ? 2 : 0 })) },
    'warn',
    /2 requests failed/u,
    '/#activity',
  ],
]

test('a healthy exchange has no issues, nor has one whose backlog is young', () => {
  assert.deepEqual(findIssues(healthy), [])
  assert.deepEqual(findIssues({ ...healthy, ...backlogSince('2026-03-02T07:59:30.000Z') }), [])
  assert.deepEqual(findIssues({ ...healthy, replication: 'none' }), [])
})

for (const [change, severity, text, href] of CASES) {
  test(`${severity}: ${text.source}`, () => {
    const [issue, ...others] = findIssues({ ...healthy, ...change })
    assert.deepEqual(others, [])
    assert.deepEqual([issue?.severity, issue?.href], [severity, href])
    assert.match(issue?.text ?? '', text)
  })
}

test('the worst is first', () => {
  const issues = findIssues({ ...healthy, dead_letters: 2, processes: [] })
  assert.deepEqual(
    issues.map(({ severity }) => severity),
    ['bad', 'warn'],
  )
})

test('durations are in the largest unit that has at least two', () => {
  assert.deepEqual([0, 1, 119, 120, 7_199, 7_200, 172_800].map(durationOf), [
    '0 seconds',
    '1 second',
    '119 seconds',
    '2 minutes',
    '119 minutes',
    '2 hours',
    '2 days',
  ])
})
