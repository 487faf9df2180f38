import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { createProfile, DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { deliveryWorld, until } from '@agent-exchange/testkit'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { type Database, openDatabase } from '@agent-exchange/database'
import { randomId } from '../../kernel/ids.ts'
import { platformIdentity } from '../../features/agents/platform-identity.ts'
import { openPlatformKeys } from '../../platform-keys/platform-keys.ts'
import { beginClaim } from '../queue/claim-store.ts'
import { claimDeliveries } from '../queue/claim-deliveries.ts'
import { startDelivery } from './engine.ts'
import { numberOf } from '../../kernel/named-locks.ts'
import { holdWorkerName } from '../../kernel/worker-lock.ts'

const made = await deliveryWorld({ config: { role: 'api' } })
const { world, receiver } = made
const open = (applicationName = 'test') =>
  openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName })
const db = open()
after(async () => {
  await db.end()
  await made[Symbol.asyncDispose]()
})
const webhook = { ca: receiver.authority.certificate, allowPrivate: true }
/** A busy machine may need longer than a worker's watch interval; the backoff would be 30 seconds. */
const NOTICED_MS = 15_000

async function freshEndpoint(): Promise<string> {
  await world.sql`delete from delivery`
  await world.sql`delete from delivery_claim`
  await world.sql`update webhook_endpoint set status = 'deleted'`
  receiver.received.length = 0
  receiver.reply = () => 204
  const endpointId = await made.endpoint()
  await world.sql`
    update webhook_endpoint set answered_at = created_at where webhook_endpoint_id = ${endpointId}`
  return endpointId
}

/** A delivery engine whose database connections carry the worker's name. */
async function startWorker(
  worker: string,
  overrides: Parameters<typeof createProfile>[0] = {},
  metrics = new Registry(),
) {
  const created = createProfile(overrides)
  assert.ok(created.ok)
  const { profile } = created
  const { clock, masterKey } = world
  const own = open(worker)
  const keys = await openPlatformKeys({
    db: own,
    masterKeys: () => ({ current: masterKey }),
    profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
  const engine = startDelivery({
    db: own,
    openListener: () => open(worker),
    profile,
    clock,
    newId: () => worker,
    log: pino({ level: 'silent' }),
    webhookKeys: keys.webhook,
    webhook,
    metrics,
    drainMs: 200,
  })
  return {
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]()
      await own.end({ timeout: 1 })
    },
  }
}

/** The state that a killed worker leaves behind: claims, but no lock. */
async function claimAs(worker: string, endpointId: string, { isBegun }: { isBegun: boolean }) {
  const now = world.clock.now()
  const order = { worker, now, finished: [], unanswered: DEFAULT_PROFILE['O-45'] }
  const claimed = await claimDeliveries(db, [{ endpointId, room: 10 }], order)
  assert.ok(claimed[0])
  if (isBegun) assert.ok(await beginClaim(db, { worker, claimId: claimed[0].claim_id, now }))
  return claimed
}

async function lockHolder(worker: string): Promise<number | undefined> {
  const [row] = await world.sql<{ pid: number }[]>`
    select pid from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and application_name = ${worker} and datname = current_database()`
  return row?.pid
}

/** Waits for the lock of a worker, so that this session gets it next. Resolves once it waits. */
async function queueForLock(waiting: Database, worker: string): Promise<{ readonly held: Promise<void> }> {
  const { promise: held, resolve } = Promise.withResolvers<void>()
  void waiting.keepConnection({
    settings: { lock_timeout: '0' },
    retryMs: 100,
    async onOpen({ sql }) {
      await sql`select pg_advisory_lock(${numberOf('worker', worker)}::text::bigint)`
      resolve()
    },
  })
  await until('waiting', async () => {
    const [row] = await world.sql<{ count: number }[]>`
      select count(*)::integer as count from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and not granted and datname = current_database()`
    return row?.count === 1
  })
  return { held }
}

test('[O-44] a delivery that a dead worker claimed but did not start is no attempt, and another worker sends it at once', async () => {
  const endpointId = await freshEndpoint()
  await made.event()
  await claimAs('wrk_dead', endpointId, { isBegun: false })
  await using running = new AsyncDisposableStack()
  running.use(await startWorker('wrk_1'))
  await until('sent', () => receiver.received.length > 0, { limitMs: NOTICED_MS })
  const [row] = await made.until(([first]) => first?.state === 'delivered', 'delivered')
  assert.deepEqual([row?.attempt, row?.attempts.length, receiver.received[0]?.attempt], [1, 1, 1])
})

test('[O-44][EVT-07] a started delivery counts as lost and waits for its backoff; a seventh attempt is a dead letter', async () => {
  const endpointId = await freshEndpoint()
  await made.event()
  await world.sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
      state, attempt, next_attempt_at, created_at)
    select 'dlv_seventh', webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state, 6,
      next_attempt_at, created_at from delivery`
  assert.equal((await claimAs('wrk_dead', endpointId, { isBegun: true })).length, 2)
  await using running = new AsyncDisposableStack()
  const metrics = new Registry()
  running.use(await startWorker('wrk_1', {}, metrics))
  const rows = await made.until((all) => all.every(({ attempts }) => attempts.length > 0), 'recorded as lost')
  const first = rows.find(({ attempt }) => attempt === 1)
  const seventh = rows.find(({ attempt }) => attempt === 7)
  assert.deepEqual([first?.state, first?.attempts[0]?.outcome], ['pending', 'retry'])
  assert.deepEqual([seventh?.state, seventh?.attempts[0]?.outcome], ['dead', 'dead'])
  for (const row of rows) assert.equal(row.attempts[0]?.details['error_class'], 'lost')
  const wait = (first?.next_attempt_at.getTime() ?? 0) - Date.parse(world.clock.now())
  assert.ok(wait > 27_000 && wait <= 33_000, String(wait))
  const alerts = await world.sql`select delivery_id from alert`
  assert.deepEqual(
    alerts.map(({ delivery_id }) => delivery_id as string),
    ['dlv_seventh'],
  )
  assert.equal(receiver.received.length, 0)
  world.clock.advance(34)
  await made.until((all) => all.some(({ state }) => state === 'delivered'), 'delivered')
  assert.deepEqual([receiver.received.length, receiver.received[0]?.attempt], [1, 2])
  const has = async (line: string) => (await metrics.metrics()).split('\n').includes(line)
  await until('counted as delivered', () => has('aex_deliveries_total{result="delivered"} 1'))
  for (const line of [
    'aex_deliveries_total{result="dead"} 1',
    'aex_delivery_failures_total{cause="lost"} 2',
    'aex_delivery_attempts_total{outcome="dead"} 1',
    'aex_delivery_attempts_total{outcome="retry"} 1',
    'aex_delivery_attempt_seconds_count 1',
  ])
    assert.ok(await has(line), line)
})

test('[O-44] at_once: the attempt after a lost one starts as soon as the loss is detected', async () => {
  const endpointId = await freshEndpoint()
  await made.event()
  await claimAs('wrk_dead', endpointId, { isBegun: true })
  await using running = new AsyncDisposableStack()
  running.use(await startWorker('wrk_1', { 'O-44': { lost_attempt: 'at_once' } }))
  const [row] = await made.until(([first]) => first?.state === 'delivered', 'delivered')
  assert.deepEqual([row?.attempt, row?.attempts.map(({ outcome }) => outcome)], [2, ['retry', 'delivered']])
})

test('[O-44] a slow worker keeps its claims; its death is detected without waiting for the backoff', async () => {
  const endpointId = await freshEndpoint()
  await made.event()
  const slow = open()
  await new Promise<void>((resolve) => holdWorkerName(slow, 'wrk_slow', (isHeld) => isHeld && resolve()))
  const [claimed] = await claimAs('wrk_slow', endpointId, { isBegun: false })
  await using running = new AsyncDisposableStack()
  running.use(await startWorker('wrk_1'))
  await sleep(2_500)
  const [held] = await made.deliveries()
  assert.deepEqual([Number(held?.claim_id), receiver.received.length], [claimed?.claim_id, 0])
  // A killed process loses its connections.
  await slow.end({ timeout: 0 })
  await until('sent', () => receiver.received.length > 0, { limitMs: NOTICED_MS })
})

test('[O-44] a worker whose lock connection was cut reacquires the lock, and nothing is sent twice', async () => {
  await freshEndpoint()
  let answer = () => undefined as unknown
  receiver.reply = (_, response) => void (answer = () => response.writeHead(204).end())
  await using running = new AsyncDisposableStack()
  running.use(await startWorker('wrk_1'))
  await until('held', async () => (await lockHolder('wrk_1')) !== undefined)
  await made.event()
  await until('under way', () => receiver.received.length === 1)
  running.use(await startWorker('wrk_2'))
  await until('held by the other', async () => (await lockHolder('wrk_2')) !== undefined)
  const former = await lockHolder('wrk_1')
  await world.sql`select pg_terminate_backend(${former ?? 0})`
  await until('held again', async () => ![undefined, former].includes(await lockHolder('wrk_1')))
  await sleep(1_500)
  answer()
  const [row] = await made.until(([first]) => first?.state === 'delivered', 'delivered')
  assert.deepEqual([row?.attempt, row?.attempts.length, receiver.received.length], [1, 1, 1])
})

test('[O-44] a worker that lost its lock sends nothing and cannot record reclaimed deliveries', async () => {
  await freshEndpoint()
  let answer = () => undefined as unknown
  receiver.reply = (_, response) => void (answer = () => response.writeHead(204).end())
  await using running = new AsyncDisposableStack()
  running.use(await startWorker('wrk_1'))
  await until('held', async () => (await lockHolder('wrk_1')) !== undefined)
  await made.event()
  await until('under way', () => receiver.received.length === 1)
  // Another session waits for the lock, so it gets it first, like a worker that reclaims.
  const other = open('wrk_other')
  const { held } = await queueForLock(other, 'wrk_1')
  await world.sql`select pg_terminate_backend(${(await lockHolder('wrk_1')) ?? 0})`
  await held
  await made.event()
  await sleep(700)
  assert.equal(receiver.received.length, 1, 'nothing begins without the lock')
  // The started delivery waits for its backoff. The second event may have been claimed too; its due time is unchanged.
  await world.sql`
    update delivery set claim_id = null, next_attempt_at = ${world.clock.now()}::timestamptz + interval '30 seconds'
    where claim_id in (select claim_id from delivery_claim where begun_at is not null)`
  await world.sql`update delivery set claim_id = null where claim_id is not null`
  await world.sql`delete from delivery_claim`
  answer()
  await sleep(300)
  const taken = (await made.deliveries()).find(({ attempt }) => attempt === 1)
  assert.deepEqual([taken?.state, taken?.attempts.length], ['pending', 0])
  receiver.reply = () => 204
  await other.end({ timeout: 0 })
  await until('the second event delivered', () => receiver.received.length === 2)
})

test('[EVT-07] after a database failure a worker reclaims its own unknown claims', async () => {
  const endpointId = await freshEndpoint()
  await using running = new AsyncDisposableStack()
  running.use(await startWorker('wrk_1'))
  await until('held', async () => (await lockHolder('wrk_1')) !== undefined)
  await made.event()
  await made.until(([row]) => row?.state === 'delivered', 'delivered')
  // Simulates a lost reply to a claim: the table has the claim, the worker does not know it.
  await world.sql`
    with claim as (
      insert into delivery_claim (worker, delivery_ids) select 'wrk_1', array_agg(delivery_id) from delivery
      returning claim_id)
    update delivery set state = 'pending', finished_at = null, attempt = 2, claim_id = (select claim_id from claim)`
  await sleep(500)
  assert.equal(receiver.received.length, 1, 'it is claimed')
  await world.sql`alter table webhook_endpoint rename to away`
  await world.sql`select pg_notify('aex_delivery', ${endpointId})`
  await sleep(300)
  await world.sql`alter table away rename to webhook_endpoint`
  const [row] = await made.until(([first]) => first?.state === 'delivered', 'delivered again')
  assert.deepEqual([row?.attempt, receiver.received.length], [2, 2])
})
