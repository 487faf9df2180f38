import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { openTestDatabase } from '@agent-exchange/testkit'
import type { Transaction } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import { recordAttempts } from './attempt-record.ts'
import type { FinishedAttempt } from './finished-attempt.ts'
import { otherWorkers, takeClaims } from './claim-store.ts'
import { beginClaim } from './claim-store.ts'
import { claimDeliveries } from './claim-deliveries.ts'
import { nextDueOf, sweepLanes } from './due-lanes.ts'
import { releaseDeliveries } from './delivery-store.ts'
import {
  MAXIMUM_IN_FLIGHT_PER_ENDPOINT,
  SWEEP_PAGE_SIZE,
  RECLAIM_BATCH_SIZE,
} from '../worker/webhook-limits.ts'
import { planOf } from './statement-plan.fixture.ts'

const ENDPOINTS = 10_000
const BACKLOG = 50_000
const NOW = '2026-03-02T08:00:00.000Z'
const DEEP = 'whe_00001'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())
await db`insert into organization values ('org_a', 'A', null, 'active', ${NOW})`
await db`insert into platform_key values ('key_1', 'webhook', '{}', '\\x00', ${NOW}, ${NOW}, 'active', ${NOW})`
await db`
  insert into webhook_endpoint
    (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at, answered_at)
  select 'whe_' || lpad(number::text, 5, '0'), 'org_a', 'https://agent.example/', '{}', 'key_1', 'active',
    ${NOW}::timestamptz, ${NOW}::timestamptz, ${NOW}::timestamptz
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

const unanswered = DEFAULT_PROFILE['O-45']
const claim = (worker: string, endpointId: string, room: number, now = NOW) =>
  claimDeliveries(db, [{ endpointId, room }], { worker, now, finished: [], unanswered })
const nothingClaimed = async () => {
  await db`update delivery set claim_id = null, attempt = 0 where claim_id is not null`
  await db`delete from delivery_claim`
}

for (const isTraced of [false, true])
  test(`a claim reads only the rows it takes, despite a deep backlog and ten thousand endpoints, ${isTraced ? 'with' : 'without'} tracing`, async () => {
    const order = { worker: 'wrk_1', now: NOW, finished: [1, 2], unanswered, isTraced }
    const wanted = [DEEP, 'whe_00002', 'whe_00003'].map((endpointId) => ({ endpointId, room: 8 }))
    const plan = await planOf(db, (queries) => claimDeliveries(queries, wanted, order))
    assert.match(plan, /delivery_waiting/)
    assert.doesNotMatch(plan, /Seq Scan on (?:delivery|webhook_endpoint|notification)/, plan)
    const most = Math.max(...[...plan.matchAll(/rows=([\d.]+)/g)].map(([, rows]) => Number(rows)))
    assert.ok(most <= 100, plan)
    // Without tracing, the trace context is not looked up.
    assert.equal(plan.match(/Index Scan using notification_notification_id_key/gu)?.length, isTraced ? 2 : 1)
    await nothingClaimed()
  })

test('results are written by primary key, however many deliveries are claimed', async () => {
  const claimed = await claim('wrk_1', DEEP, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  assert.equal(claimed.length, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const finished = claimed.map((each): FinishedAttempt => ({
    deliveryId: each.delivery_id,
    endpointId: DEEP,
    organizationId: 'org_a',
    claimId: each.claim_id,
    attempt: each.attempt,
    hasAnswered: true,
    wasFailing: false,
    startedAt: NOW,
    finishedAt: NOW,
    // Later than the other tests' clocks, so that none of them claims it again.
    verdict: { outcome: 'retry', at: '2026-03-03T08:00:00.000Z', reason: 'status 500' },
    details: {},
  }))
  const plan = await planOf(db, (queries) => recordAttempts(queries, finished))
  assert.match(plan, /Index Scan using delivery_pkey/)
  assert.doesNotMatch(plan, /Seq Scan on delivery|Removed by Join Filter/, plan)
  const [{ count } = {}] = await db`select count(*) as count from delivery_attempt`
  assert.equal(count, finished.length)
})

test('a sweep needs one index lookup per endpoint, whatever its backlog', async () => {
  const plan = await planOf(db, (queries) => sweepLanes(queries, ''))
  assert.doesNotMatch(plan, /Seq Scan on delivery/, plan)
  const found = await sweepLanes(db, '')
  assert.equal(found.length, SWEEP_PAGE_SIZE)
  assert.deepEqual(found[0], { webhook_endpoint_id: DEEP, next_attempt_at: NOW, is_active: true })
  const rest = await sweepLanes(db, found.at(-1)?.webhook_endpoint_id ?? '')
  assert.equal(rest[0]?.webhook_endpoint_id, 'whe_01001')
})

test('[EVT-07] no delivery is claimed twice or early, and each claim counts an attempt', async () => {
  await nothingClaimed()
  const first = await claim('wrk_1', DEEP, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const second = await claim('wrk_2', DEEP, MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const ids = new Set([...first, ...second].map(({ delivery_id }) => delivery_id))
  assert.equal(ids.size, 2 * MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  assert.ok([...first, ...second].every(({ attempt }) => attempt === 1))
  assert.deepEqual(await otherWorkers(db, 'wrk_1'), ['wrk_2'])
  assert.deepEqual(await otherWorkers(db, 'wrk_3'), ['wrk_1', 'wrk_2'])
  assert.equal((await claim('wrk_1', 'whe_00002', 5)).length, 0, 'not due yet')
  assert.equal((await claim('wrk_1', 'whe_00002', 5, '2026-03-02T09:00:00.000Z')).length, 1)
  await db`update webhook_endpoint set status = 'disabled' where webhook_endpoint_id = 'whe_00003'`
  assert.equal((await claim('wrk_1', 'whe_00003', 5, '2026-03-02T09:00:00.000Z')).length, 0, 'disabled')

  const [one] = first
  assert.ok(one)
  const back = { deliveryId: one.delivery_id, claimId: one.claim_id, nextAttemptAt: one.next_attempt_at }
  await releaseDeliveries(db, [{ ...back, claimId: second[0]?.claim_id ?? 0 }])
  const row = async () => {
    const [found] = await db<{ attempt: number; claim_id: number | null }[]>`
      select attempt, claim_id from delivery where delivery_id = ${one.delivery_id}`
    return { ...found }
  }
  assert.deepEqual(await row(), { attempt: 1, claim_id: one.claim_id }, 'only by its own claim')
  await releaseDeliveries(db, [back])
  assert.deepEqual(await row(), { attempt: 0, claim_id: null })
})

test('a claim is a heap-only (HOT) update: no index changes', async () => {
  const counts = await db.begin(async (tx) => {
    const order = { worker: 'wrk_1', now: secondsAfter(NOW, 3_600), finished: [], unanswered }
    await claimDeliveries(tx, [{ endpointId: 'whe_00004', room: 1 }], order)
    const [row] = await tx<{ updated: number; hot: number }[]>`
      select pg_stat_get_xact_tuples_updated('delivery'::regclass) as updated,
        pg_stat_get_xact_tuples_hot_updated('delivery'::regclass) as hot`
    return row
  })
  assert.deepEqual({ ...counts }, { updated: 1, hot: 1 })
})

test('[EVT-07] claims are reclaimed in batches; afterwards their worker can neither start nor record them', async () => {
  await nothingClaimed()
  const endpoints = Array.from(
    { length: RECLAIM_BATCH_SIZE + 2 },
    (_, i) => `whe_${String(i + 100).padStart(5, '0')}`,
  )
  const later = secondsAfter(NOW, 3_600)
  const claimed = []
  for (const endpointId of endpoints) claimed.push(...(await claim('wrk_1', endpointId, 1, later)))
  const [returned, begun, kept] = claimed
  assert.ok(returned && begun && kept)
  await releaseDeliveries(db, [
    { deliveryId: returned.delivery_id, claimId: returned.claim_id, nextAttemptAt: NOW },
  ])
  const begin = ({ claim_id: claimId }: typeof begun) =>
    beginClaim(db, { worker: 'wrk_1', claimId, now: later })
  assert.equal(await begin(begun), true)
  const plan = await planOf(db, (queries) => takeClaims(queries as Transaction, 'wrk_2', { except: [] }))
  assert.doesNotMatch(plan, /Seq Scan on delivery/, plan)

  const take = () => db.begin((tx) => takeClaims(tx, 'wrk_1', { except: [kept.claim_id] }))
  const steps = [await take(), await take(), await take()]
  assert.deepEqual(
    steps.map(({ count }) => count),
    [RECLAIM_BATCH_SIZE, 1, 0],
  )
  const taken = steps.flatMap(({ deliveries }) => deliveries)
  assert.deepEqual(
    taken.map(({ webhook_endpoint_id, begun_at }) => [webhook_endpoint_id, begun_at]),
    claimed.slice(1).flatMap((each) => {
      if (each === kept) return []
      return [[each.webhook_endpoint_id, each === begun ? later : null]]
    }),
  )
  assert.equal(await begin(begun), false)
  assert.equal(await begin(kept), true)
})

const lane = (name: string, answered: string | null) => db`
  insert into webhook_endpoint
    (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at, answered_at)
  values (${name}, 'org_a', 'https://agent.example/', '{}', 'key_1', 'active', ${NOW}, ${NOW}, ${answered})`
const backlog = (endpointId: string, count: number) => db`
  insert into delivery
    (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state, next_attempt_at, created_at)
  select ${`dlv_${endpointId}_`} || number, ${endpointId}, 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'pending',
    ${NOW}::timestamptz, ${NOW}::timestamptz
  from generate_series(1, ${count}::integer) as number`

test('[O-45] an endpoint without a 2xx response yields one delivery at a time and one per second, across all workers', async () => {
  await lane('whe_new', null)
  await backlog('whe_new', 10)
  const at = (milliseconds: number) => secondsAfter(NOW, milliseconds / 1_000)
  const [first, ...more] = await claim('wrk_1', 'whe_new', 8)
  assert.ok(first && more.length === 0)
  assert.equal((await claim('wrk_2', 'whe_new', 8, at(5_000))).length, 0, 'one is under way')
  const back = { deliveryId: first.delivery_id, claimId: first.claim_id, nextAttemptAt: at(60_000) }
  await releaseDeliveries(db, [back])
  assert.equal((await claim('wrk_2', 'whe_new', 8, at(999))).length, 0, 'the second is not over')
  // Of two workers that claim concurrently, one gets it.
  const both = await Promise.all(['wrk_1', 'wrk_2'].map((worker) => claim(worker, 'whe_new', 8, at(1_000))))
  assert.equal(both.flat().length, 1)
  await db`update webhook_endpoint set answered_at = ${NOW} where webhook_endpoint_id = 'whe_new'`
  assert.equal((await claim('wrk_1', 'whe_new', 8, at(1_000))).length, 8)
})

test('[O-45] a deployment may permit more concurrent requests', async () => {
  await lane('whe_trusted', null)
  await backlog('whe_trusted', 10)
  const wanted = [{ endpointId: 'whe_trusted', room: 8 }]
  const order = { worker: 'wrk_1', now: NOW, finished: [] }
  const rules = { requests_at_once: 3, seconds_between: 0 }
  assert.equal((await claimDeliveries(db, wanted, { ...order, unanswered: rules })).length, 3)
  assert.equal((await claimDeliveries(db, wanted, { ...order, unanswered: rules })).length, 0)
  const many = { requests_at_once: 5, seconds_between: 0 }
  assert.equal((await claimDeliveries(db, wanted, { ...order, unanswered: many })).length, 2)
})

test('deliveries of a suspended organization are not claimed, whether its endpoints have responded or not', async () => {
  await lane('whe_old', NOW)
  await backlog('whe_old', 2)
  await db`update webhook_endpoint set tried_at = null, answered_at = null where webhook_endpoint_id = 'whe_new'`
  await nothingClaimed()
  const later = secondsAfter(NOW, 3_600)
  await db`update organization set status = 'suspended'`
  assert.equal((await claim('wrk_1', 'whe_old', 8, later)).length, 0)
  assert.equal((await claim('wrk_1', 'whe_new', 8, later)).length, 0)
  assert.equal((await nextDueOf(db, ['whe_old'])).length, 0)
  assert.ok((await sweepLanes(db, '')).every(({ is_active }) => !is_active))
  await db`update organization set status = 'active'`
  assert.equal((await claim('wrk_1', 'whe_old', 8, later)).length, 2)
  assert.equal((await claim('wrk_1', 'whe_new', 8, later)).length, 1)
})
