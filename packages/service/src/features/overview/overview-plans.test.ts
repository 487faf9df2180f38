import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { planOf } from '../../webhooks/queue/statement-plan.fixture.ts'
import {
  countEndedBadly,
  listDisabledEndpoints,
  listFailingEndpoints,
  readBacklog,
} from './backlog-queries.ts'

const NOW = '2026-03-02T08:00:00.000Z'
const database = await openTestDatabase(4)
const { db } = database
after(() => database[Symbol.asyncDispose]())
await db`insert into organization values ('org_a', 'A', null, 'active', ${NOW}), ('org_s', 'S', null, 'suspended', ${NOW})`
await db`insert into platform_key values ('key_1', 'webhook', '{}', '\\x00', ${NOW}, ${NOW}, 'active', ${NOW})`
await db`
  insert into webhook_endpoint
    (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at, disabled_at)
  select 'whe_' || number, case when number = 2 then 'org_s' else 'org_a' end, 'https://agent.example/', '{}', 'key_1',
    case when number <= 1 then 'disabled' else 'active' end, ${NOW}::timestamptz, ${NOW}::timestamptz, ${NOW}::timestamptz
  from generate_series(1, 200) as number`
// The oldest are those of a disabled endpoint, of a suspended organization, and then of whe_3.
await db`
  insert into delivery
    (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
      next_attempt_at, created_at, finished_at)
  select 'dlv_' || lpad(number::text, 6, '0'), 'whe_' || (number % 4 + 1), 'org_a', 'pkg_1', 'ntf_1', 'evt_1',
    case when number % 100 = 7 then 'dead' else 'pending' end,
    ${NOW}::timestamptz - make_interval(secs => 40 - 10 * (number % 4)), ${NOW}::timestamptz, ${NOW}::timestamptz
  from generate_series(1, 40000) as number`
// whe_3 has never answered.
await db`update webhook_endpoint set answered_at = ${NOW} where webhook_endpoint_id <> 'whe_3'`
await db`analyze`

test('the oldest due delivery is that of an active endpoint of an active organization', async () => {
  assert.deepEqual(await readBacklog(db, NOW), {
    oldest_due_at: '2026-03-02T07:59:40.000Z',
    webhook_endpoint_id: 'whe_3',
    waits_for_worker_since: '2026-03-02T07:59:50.000Z',
    waits_for_endpoint_since: '2026-03-02T07:59:40.000Z',
    slow_endpoint: { webhook_endpoint_id: 'whe_3', organization_name: 'A' },
    pending: 10_000,
  })
})

test('an endpoint to which a request is under way waits for itself, not for a worker', async () => {
  await db`
    update delivery set claim_id = 1 where delivery_id = (
      select delivery_id from delivery where webhook_endpoint_id = 'whe_4' and state = 'pending'
      order by next_attempt_at limit 1)`
  const { waits_for_worker_since, waits_for_endpoint_since } = await readBacklog(db, NOW)
  assert.deepEqual([waits_for_worker_since, waits_for_endpoint_since], [null, '2026-03-02T07:59:40.000Z'])
})

test('finding it reads one row for each endpoint with a backlog, not the backlog', async () => {
  const plan = await planOf(db, (queries) => readBacklog(queries, NOW))
  assert.match(plan, /delivery_waiting/u)
  assert.doesNotMatch(plan, /Seq Scan on delivery/u, plan)
  const most = Math.max(
    ...[...plan.matchAll(/Index (?:Only )?Scan [^]*?rows=(\d+)/gu)].map(([, rows]) => Number(rows)),
  )
  assert.ok(most <= 10, plan)
})

test('deliveries that ended badly, disabled and failing endpoints come from partial indexes', async () => {
  const yesterday = '2026-03-01T08:00:00.000Z'
  assert.deepEqual(await countEndedBadly(db, yesterday), {
    dead: 400,
    failed: 0,
    dead_owners: ['A'],
    failed_owners: [],
  })
  assert.equal((await countEndedBadly(db, NOW)).dead, 0)
  const badly = await planOf(db, (queries) => countEndedBadly(queries, yesterday))
  assert.match(badly, /delivery_in_trouble[^]*delivery_by_replay/u)
  assert.doesNotMatch(badly, /Seq Scan on delivery/u, badly)
  await db`
    update webhook_endpoint set failing_since = ${NOW}, failure_alerted_at = ${NOW}, last_error = 'dns'
    where webhook_endpoint_id in ('whe_1', 'whe_2', 'whe_3')`
  // whe_1 is disabled, the organization of whe_2 suspended.
  assert.deepEqual(
    (await listFailingEndpoints(db)).map((each) => [each.webhook_endpoint_id, each.last_error]),
    [['whe_3', 'dns']],
  )
  assert.deepEqual(
    (await listDisabledEndpoints(db)).map(({ webhook_endpoint_id }) => webhook_endpoint_id),
    ['whe_1'],
  )
})
