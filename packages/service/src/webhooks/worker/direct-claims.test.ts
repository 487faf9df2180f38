import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { allDelivered, deliveryWorld, startWorld, until } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import type { DirectClaims } from '../../kernel/direct-claims.ts'
import { emitOne } from './emit-one.fixture.ts'
import { MAXIMUM_IN_FLIGHT_PER_ENDPOINT } from './webhook-limits.ts'

const made = await deliveryWorld()
const { world, receiver } = made
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await made[Symbol.asyncDispose]()
})

/** An endpoint that has answered once, so that the engine of the world knows it as healthy. */
async function answeringEndpoint(): Promise<string> {
  await world.sql`delete from delivery`
  await world.sql`update webhook_endpoint set status = 'deleted'`
  receiver.reply = () => 204
  const endpointId = await made.endpoint()
  await made.event()
  await made.until(allDelivered, 'delivered')
  await world.sql`delete from delivery`
  receiver.received.length = 0
  return endpointId
}

const emit = (directClaims: DirectClaims) => emitOne(db, made, directClaims)

/** The engine of a process that is killed after the commit, before it sends anything. */
const killedAfterCommit = (endpointId: string): DirectClaims => ({
  reserve: () => ({ worker: 'wrk_killed', slots: [{ endpointId, room: 1 }], end: () => undefined }),
})

async function claims() {
  return world.sql<{ worker: string; is_begun: boolean }[]>`
    select worker, begun_at is not null as is_begun from delivery_claim
    where exists (select from delivery where delivery.claim_id = delivery_claim.claim_id)`
}

test('[EVT-07] a delivery is claimed, with its attempt begun, in the transaction that creates it', async () => {
  await answeringEndpoint()
  receiver.reply = () => undefined
  await made.event()
  await until('sent', () => receiver.received.length === 1)
  const [row] = await world.sql`
    select attempt, delivery.xmin = notification.xmin as is_direct
    from delivery join notification using (notification_id)`
  assert.deepEqual({ ...row }, { attempt: 1, is_direct: true })
  assert.deepEqual(
    (await claims()).map(({ is_begun }) => is_begun),
    [true],
  )
  receiver.cut()
  await made.until(([first]) => first?.attempts.length === 1, 'recorded')
})

test('[EVT-07] deliveries beyond the limit of their endpoint wait in the queue and arrive once each', async () => {
  await answeringEndpoint()
  const waiting: (() => void)[] = []
  receiver.reply = (_request, response) => void waiting.push(() => response.writeHead(204).end())
  const count = MAXIMUM_IN_FLIGHT_PER_ENDPOINT + 4
  await Promise.all(Array.from({ length: count }, () => made.event()))
  const rows = await made.until((all) => all.length === count, 'created')
  assert.ok(rows.some(({ claim_id }) => claim_id === null))
  assert.ok(waiting.length <= MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  receiver.reply = () => 204
  for (const respond of waiting.splice(0)) respond()
  await made.until(allDelivered, 'delivered')
  assert.equal(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size, count)
  assert.equal(receiver.received.length, count)
})

const RULES: Readonly<Record<string, (endpointId: string) => Promise<unknown>>> = {
  'an endpoint that never answered': (id) => world.sql`
    update webhook_endpoint set answered_at = null where webhook_endpoint_id = ${id}`,
  'an endpoint that fails': (id) => world.sql`
    update webhook_endpoint set failing_since = now() where webhook_endpoint_id = ${id}`,
  'a disabled endpoint': (id) => world.operate('POST', `/endpoints/${id}/disable`, { reason: 'maintenance' }),
  'a suspended organization': () => world.sql`
    update organization set status = 'suspended' where organization_id = ${made.owner.organizationId}`,
}

for (const [what, prepare] of Object.entries(RULES))
  test(`[EVT-07][O-45] no delivery of ${what} is claimed when it is created`, async () => {
    const endpointId = await answeringEndpoint()
    await prepare(endpointId)
    let claimed: readonly unknown[] | undefined
    await emit({
      reserve: () => ({
        worker: 'wrk_other',
        slots: [{ endpointId, room: 1 }],
        end: (_outcome, found) => (claimed = found),
      }),
    })
    await world.sql`update organization set status = 'active'`
    assert.deepEqual(claimed, [])
  })

test('[O-44] after a crash between commit and request, or request and result, the attempt counts as lost', async () => {
  const endpointId = await answeringEndpoint()
  await emit(killedAfterCommit(endpointId))
  const [row] = await made.until(([first]) => first?.attempts.length === 1, 'reclaimed')
  assert.deepEqual([row?.state, row?.attempt, row?.claim_id], ['pending', 1, null])
  assert.equal(row?.attempts[0]?.details['error_class'], 'lost')
  world.clock.advance(60)
  await made.until(allDelivered, 'delivered')
  assert.deepEqual(
    receiver.received.map(({ attempt }) => attempt),
    [2],
  )
})

test('two processes claim what they create, and each delivery arrives once', async () => {
  await answeringEndpoint()
  await using other = await startWorld({
    beside: world,
    config: { role: 'all', webhook: { ca: receiver.authority.certificate, allowPrivate: true } },
  })
  assert.notEqual(other.url, world.url)
  const count = 12
  for (let sent = 0; sent < count; sent++) await made.event()
  await made.until((rows) => rows.length === count && allDelivered(rows), 'delivered')
  assert.equal(receiver.received.length, count)
})

test('a worker that lost its lock looks for results that the server may have lost', async () => {
  await answeringEndpoint()
  await made.event()
  await made.until(allDelivered, 'delivered')
  // The state before the result was recorded.
  await world.sql`delete from delivery_attempt`
  await world.sql`
    update delivery set state = 'pending', finished_at = null, claim_id = (select max(claim_id) from delivery_claim)`
  await world.sql`update delivery_claim set delivery_ids = array(select delivery_id from delivery)`
  await world.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'select 1 as one%'`
  const [row] = await made.until(([first]) => first?.attempts.length === 1, 'reclaimed')
  assert.equal(row?.attempts[0]?.details['error_class'], 'lost')
})
