import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase, type Transaction } from '../db/database.ts'
import { secondsAfter } from '../kernel/clock.ts'
import { type FinishedAttempt, recordAttempts } from './attempt-record.ts'
import {
  claimDeliveries,
  countOtherWorkers,
  releaseDeliveries,
  sweepLanes,
  takeEndedClaims,
} from './delivery-store.ts'
import { ENDED_CLAIMS, LEASE_SECONDS, MAXIMUM_IN_FLIGHT_PER_ENDPOINT, SWEPT_LANES } from './limits.ts'
import { planOf } from './statement-plan.fixture.ts'

const ENDPOINTS = 10_000
const BACKLOG = 50_000
const NOW = '2026-03-02T08:00:00.000Z'
const DEEP = 'whe_00001'

const database = await testDatabase()
const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})
await db`insert into organization values ('org_a', 'A', null, 'active', ${NOW})`
await db`insert into platform_key values ('key_1', 'webhook', '{}', '\\x00', ${NOW}, ${NOW}, 'active', ${NOW})`
await db`
  insert into webhook_endpoint
    (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at)
  select 'whe_' || lpad(number::text, 5, '0'), 'org_a', 'https://agent.example/', '{}', 'key_1', 'active', ${NOW}::timestamptz, ${NOW}::timestamptz
  from generate_series(1, ${ENDPOINTS}::integer) as number`
await db`
  insert into delivery
    (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
      next_attempt_at, created_at)
  select 'dlv_d' || number, ${DEEP}, 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'pending', ${NOW}::timestamptz, ${NOW}::timestamptz
  from generate_series(1, ${BACKLOG}::integer) as number
  union all
  select 'dlv_' || webhook_endpoint_id, webhook_endpoint_id, 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'pending',
    ${NOW}::timestamptz + interval '1 hour', ${NOW}::timestamptz
  from webhook_endpoint`
await db`analyze delivery, webhook_endpoint`

test('a claim looks only at what it takes, beside a deep backlog and ten thousand endpoints', async () => {
  const wanted = [DEEP, 'whe_00002', 'whe_00003'].map((endpointId) => ({ endpointId, room: 8 }))
  const plan = await planOf(db, (queries) => claimDeliveries(queries, wanted, { worker: 'wrk_1', now: NOW }))
  assert.match(plan, /delivery_waiting/)
  assert.doesNotMatch(plan, /Seq Scan on (?:delivery|webhook_endpoint|notification)/, plan)
  const most = Math.max(...[...plan.matchAll(/rows=([\d.]+)/g)].map(([, rows]) => Number(rows)))
  assert.ok(most <= 100, plan)
})

test('results are written by the key of each delivery, however many are under way', async () => {
  const claimed = await claimDeliveries(db, [{ endpointId: DEEP, room: MAXIMUM_IN_FLIGHT_PER_ENDPOINT }], {
    worker: 'wrk_1',
    now: NOW,
  })
  assert.equal(claimed.length, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const finished = claimed.map((each): FinishedAttempt => ({
    deliveryId: each.delivery_id,
    endpointId: DEEP,
    organizationId: 'org_a',
    attempt: each.attempt,
    worker: 'wrk_1',
    startedAt: NOW,
    finishedAt: NOW,
    // After the other tests' times: none of them is to claim it a second time.
    verdict: { outcome: 'retry', at: '2026-03-03T08:00:00.000Z', reason: 'status 500' },
    details: {},
  }))
  const plan = await planOf(db, (queries) => recordAttempts(queries, finished))
  assert.match(plan, /Index Scan using delivery_pkey/)
  assert.doesNotMatch(plan, /Seq Scan on delivery|Removed by Join Filter/, plan)
  const [{ count } = {}] = await db`select count(*) as count from delivery_attempt`
  assert.equal(count, finished.length)
})

test('a sweep takes one look for each endpoint, however much waits there', async () => {
  const plan = await planOf(db, (queries) => sweepLanes(queries, ''))
  assert.doesNotMatch(plan, /Seq Scan on delivery/, plan)
  const found = await sweepLanes(db, '')
  assert.equal(found.length, SWEPT_LANES)
  assert.deepEqual(found[0], { webhook_endpoint_id: DEEP, next_attempt_at: NOW, is_active: true })
  const rest = await sweepLanes(db, found.at(-1)?.webhook_endpoint_id ?? '')
  assert.equal(rest[0]?.webhook_endpoint_id, 'whe_01001')
})

test('[EVT-07] nothing is claimed twice or early, and each claim counts', async () => {
  const claim = (worker: string, endpointId: string, room: number, now = NOW) =>
    claimDeliveries(db, [{ endpointId, room }], { worker, now })
  await db`update delivery set leased_until = null, leased_by = null, attempt = 0 where leased_by is not null`
  await db`delete from delivery_claim`
  const first = await claim('wrk_1', DEEP, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const second = await claim('wrk_2', DEEP, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const ids = new Set([...first, ...second].map(({ delivery_id }) => delivery_id))
  assert.equal(ids.size, 2 * MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  assert.ok([...first, ...second].every(({ attempt }) => attempt === 1))
  assert.equal(await countOtherWorkers(db, 'wrk_1', NOW), 1)
  assert.equal(await countOtherWorkers(db, 'wrk_3', NOW), 2)
  assert.equal(await countOtherWorkers(db, 'wrk_3', secondsAfter(NOW, LEASE_SECONDS)), 0)
  assert.equal((await claim('wrk_1', 'whe_00002', 5)).length, 0, 'not due yet')
  assert.equal((await claim('wrk_1', 'whe_00002', 5, '2026-03-02T09:00:00.000Z')).length, 1)
  await db`update webhook_endpoint set status = 'disabled' where webhook_endpoint_id = 'whe_00003'`
  assert.equal((await claim('wrk_1', 'whe_00003', 5, '2026-03-02T09:00:00.000Z')).length, 0, 'disabled')

  const [one] = first
  assert.ok(one)
  const back = { deliveryId: one.delivery_id, attempt: one.attempt, nextAttemptAt: one.next_attempt_at }
  await releaseDeliveries(db, [back], 'wrk_2')
  const leased = async () => {
    const [row] = await db<{ attempt: number; leased_by: string | null }[]>`
      select attempt, leased_by from delivery where delivery_id = ${one.delivery_id}`
    return row
  }
  assert.deepEqual(
    { ...(await leased()) },
    { attempt: 1, leased_by: 'wrk_1' },
    'only its worker gives it back',
  )
  await releaseDeliveries(db, [back], 'wrk_1')
  assert.deepEqual({ ...(await leased()) }, { attempt: 0, leased_by: null })
})

test('a claim changes no index: the row is written anew in its own page', async () => {
  const counts = await db.begin(async (tx) => {
    await claimDeliveries(tx, [{ endpointId: 'whe_00004', room: 1 }], {
      worker: 'wrk_1',
      now: secondsAfter(NOW, 3_600),
    })
    const [row] = await tx<{ updated: number; hot: number }[]>`
      select pg_stat_get_xact_tuples_updated('delivery'::regclass) as updated,
        pg_stat_get_xact_tuples_hot_updated('delivery'::regclass) as hot`
    return row
  })
  assert.deepEqual({ ...counts }, { updated: 1, hot: 1 })
})

test('claims that have ended go, a step at a time, and hand over what is still under way', async () => {
  await db`update delivery set leased_until = null, leased_by = null, attempt = 0 where leased_by is not null`
  await db`delete from delivery_claim`
  const endpoints = Array.from(
    { length: ENDED_CLAIMS + 1 },
    (_, i) => `whe_${String(i + 100).padStart(5, '0')}`,
  )
  const later = secondsAfter(NOW, 3_600)
  for (const endpointId of endpoints)
    await claimDeliveries(db, [{ endpointId, room: 1 }], { worker: 'wrk_1', now: later })
  const ended = secondsAfter(later, LEASE_SECONDS)
  const take = (now: string) => db.begin((tx) => takeEndedClaims(tx, now))
  assert.deepEqual(await take(secondsAfter(ended, -1)), { count: 0, lost: [] }, 'the leases hold')
  const back = { deliveryId: `dlv_${endpoints[0]}`, attempt: 1, nextAttemptAt: NOW }
  await releaseDeliveries(db, [back], 'wrk_1')
  const plan = await planOf(db, (queries) => takeEndedClaims(queries as Transaction, secondsAfter(ended, -1)))
  assert.doesNotMatch(plan, /Seq Scan on delivery/, plan)
  const steps = [await take(ended), await take(ended), await take(ended)]
  assert.deepEqual(
    steps.map(({ count }) => count),
    [ENDED_CLAIMS, 1, 0],
  )
  const lost = steps.flatMap((step) => step.lost).map(({ webhook_endpoint_id }) => webhook_endpoint_id)
  assert.deepEqual(lost, endpoints.slice(1), 'not what was given back')
})
