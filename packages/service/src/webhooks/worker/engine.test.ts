import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE as profile } from '@agent-exchange/protocol'
import { allDelivered, startWorld, deliveryWorld, until } from '@agent-exchange/testkit'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openDatabase } from '@agent-exchange/database'
import { randomId } from '../../kernel/ids.ts'
import { platformIdentity } from '../../features/agents/platform-identity.ts'
import { openPlatformKeys } from '../../platform-keys/platform-keys.ts'
import { emitOne } from './emit-one.fixture.ts'
import { startDelivery } from './engine.ts'
import { SWEEP_MS, TICK_MS } from './webhook-limits.ts'

const made = await deliveryWorld({ config: { role: 'api' } })
after(() => made[Symbol.asyncDispose]())
const { world, receiver } = made
const webhook = { ca: receiver.authority.certificate, allowPrivate: true }

async function freshEndpoint(): Promise<string> {
  await world.sql`delete from delivery`
  await world.sql`update webhook_endpoint set status = 'deleted'`
  receiver.received.length = 0
  receiver.reply = () => 204
  return made.endpoint()
}

/** The delivery engine alone, with a short grace period. */
async function startEngine(drainMs: number) {
  const open = () =>
    openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'engine' })
  const db = open()
  const { clock, masterKey } = world
  const keys = await openPlatformKeys({
    db,
    masterKeys: () => ({ current: masterKey }),
    profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
  const engine = startDelivery({
    db,
    openListener: open,
    profile,
    clock,
    newId: randomId,
    log: pino({ level: 'silent' }),
    webhookKeys: keys.webhook,
    webhook,
    metrics: new Registry(),
    drainMs,
  })
  return {
    db,
    reserve: engine.reserve,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]()
      await db.end({ timeout: 1 })
    },
  }
}

test('after the grace period, requests that may have been sent count as interrupted attempts', async () => {
  await freshEndpoint()
  receiver.reply = () => undefined
  await made.event()
  {
    await using running = new AsyncDisposableStack()
    running.use(await startEngine(200))
    await made.until(() => receiver.received.length > 0, 'under way')
  }
  const [row] = await made.deliveries()
  assert.deepEqual([row?.state, row?.attempt, row?.claim_id], ['pending', 1, null])
  assert.deepEqual(
    [row?.attempts[0]?.outcome, row?.attempts[0]?.details['error_class']],
    ['retry', 'interrupted'],
  )
})

test('[O-44] deliveries that were claimed when they were created, but not sent before a stop, are no attempts', async () => {
  const endpointId = await freshEndpoint()
  await using running = new AsyncDisposableStack()
  const engine = running.use(await startEngine(1_000))
  await made.event()
  await made.until(allDelivered, 'delivered')
  await world.sql`delete from delivery`
  // The first answer lifts the pacing of the endpoint, so the engine looks for more deliveries to it first.
  const reservation = await until('free', () => engine.reserve(new Map([[made.owner.organizationId, 1]])))
  assert.deepEqual(reservation.slots, [{ endpointId, room: 1 }])
  const stopped = running.disposeAsync()
  await emitOne(engine.db, made, { reserve: () => reservation })
  await stopped
  const [row] = await made.deliveries()
  assert.deepEqual([row?.state, row?.attempt, row?.claim_id], ['pending', 0, null])
  assert.equal(receiver.received.length, 1)
})

test('[EVT-13] an endpoint whose key has expired is moved to the current key, which signs its webhooks', async () => {
  const endpointId = await freshEndpoint()
  const former = `key_${randomBytes(8).toString('hex')}`
  await world.sql`
    insert into platform_key (key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at)
    values (${former}, 'webhook', '{}', '\\x00', now() - interval '2 days', now() - interval '1 day', 'retired', now())`
  await world.sql`update webhook_endpoint set signing_key_id = ${former} where webhook_endpoint_id = ${endpointId}`
  await using running = new AsyncDisposableStack()
  running.use(await startEngine(1_000))
  await made.event()
  await made.until((rows) => rows.length > 0 && rows.every(({ state }) => state === 'delivered'), 'delivered')
  const [endpoint] = await world.sql<{ signing_key_id: string }[]>`
    select signing_key_id from webhook_endpoint where webhook_endpoint_id = ${endpointId}`
  assert.ok(endpoint && endpoint.signing_key_id !== former)
  assert.ok(receiver.received[0]?.headers['signature-input']?.includes(endpoint.signing_key_id))
})

test('deliveries to a disabled endpoint pause and resume when it is enabled', async () => {
  const endpointId = await freshEndpoint()
  await using running = new AsyncDisposableStack()
  running.use(await startEngine(1_000))
  receiver.reply = () => 503
  await made.event()
  await made.until(([row]) => row?.attempts.length === 1, 'tried')
  assert.equal(
    (await world.operate('POST', `/endpoints/${endpointId}/disable`, { reason: 'maintenance' })).status,
    200,
  )
  receiver.reply = () => 204
  world.clock.advance(120)
  await sleep(4 * TICK_MS)
  assert.equal(receiver.received.length, 1)
  assert.equal(
    (await world.operate('POST', `/endpoints/${endpointId}/enable`, { reason: 'over' })).status,
    200,
  )
  const [row] = await made.until(([first]) => first?.state === 'delivered', 'delivered')
  assert.equal(row?.attempt, 2)
})

/**
 * Sends events until two in a row arrive sooner than a sweep can bring them: each is sent when the one before has
 * arrived, so a sweep alone takes about SWEEP_MS for each but the first.
 */
async function untilWoken(): Promise<void> {
  for (let inARow = 0, sent = 0; inARow < 2; sent++) {
    assert.ok(sent < 20, 'only sweeps bring deliveries')
    await made.event()
    const from = performance.now()
    await made.until(allDelivered, 'delivered')
    inARow = performance.now() - from < SWEEP_MS / 2 ? inARow + 1 : 0
  }
}

test('wake-ups work again after the database closed every connection', async () => {
  await freshEndpoint()
  await using running = new AsyncDisposableStack()
  running.use(await startWorld({ beside: world, config: { role: 'worker', webhook } }))
  await untilWoken()
  await world.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'agent-exchange'`
  await untilWoken()
})
