import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { startWorld, deliveryWorld, type DeliveryState } from '@agent-exchange/testkit'
import { INITIAL_WINDOW, MAXIMUM_IN_FLIGHT_PER_ENDPOINT } from './webhook-limits.ts'

const made = await deliveryWorld({ config: { role: 'api' } })
const { world, receiver } = made
after(() => made[Symbol.asyncDispose]())
const webhook = { ca: receiver.authority.certificate, allowPrivate: true }
const startWorker = () => startWorld({ beside: world, config: { role: 'worker', webhook } })

async function freshEndpoint(): Promise<string> {
  await world.sql`delete from delivery`
  await world.sql`update webhook_endpoint set status = 'deleted'`
  receiver.received.length = 0
  receiver.reply = () => 204
  return made.endpoint()
}

/** Inserts further deliveries of the latest notification, without a package for each. */
async function multiply(endpointId: string, count: number, attempt = 0): Promise<void> {
  await world.sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
      state, attempt, next_attempt_at, created_at)
    select 'dlv_' || gen_random_uuid(), ${endpointId}, organization_id, package_id, notification_id, event_id, 'pending',
      ${attempt}, ${world.clock.now()}, ${world.clock.now()}
    from (select * from notification order by sequence desc limit 1) as latest, generate_series(1, ${count})`
  await world.sql`select pg_notify('aex_delivery', ${endpointId})`
}

const finished = (rows: readonly DeliveryState[]) => rows.every(({ state }) => state !== 'pending')

test('an api process delivers nothing; a worker has no agent API and is ready on the operator port', async () => {
  await freshEndpoint()
  await made.event()
  await using worker = await startWorker()
  assert.equal((await fetch(`${worker.operatorUrl}/readyz`)).status, 200)
  await assert.rejects(fetch(`${worker.url}/openapi.json`))
  await made.until(finished, 'delivered by the worker')
  const metrics = await (await fetch(`${worker.operatorUrl}/metrics`)).text()
  assert.match(metrics, /aex_delivery_attempts_total\{outcome="delivered"\} 1/)
  assert.equal(receiver.received.length, 1, 'the worker alone has sent')
  assert.match(metrics, /aex_deliveries_in_flight 0/)
  assert.match(metrics, /aex_delivery_attempt_seconds_count 1/)
})

test('[EVT-07] several workers share the work: each delivery is sent once, within the concurrency limit', async () => {
  const endpointId = await freshEndpoint()
  let underWay = 0
  let most = 0
  receiver.reply = (_, response) => {
    most = Math.max(most, ++underWay)
    setTimeout(() => {
      underWay--
      response.writeHead(204).end()
    }, 5)
  }
  await made.event()
  await multiply(endpointId, 600)
  await using running = new AsyncDisposableStack()
  for (let i = 0; i < 3; i++) running.use(await startWorker())
  const rows = await made.until(finished, 'delivered')
  assert.equal(rows.length, 601)
  assert.ok(
    rows.every(
      ({ state, attempt, attempts }) => state === 'delivered' && attempt === 1 && attempts.length === 1,
    ),
  )
  assert.equal(receiver.received.length, 601)
  assert.equal(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size, 601)
  // Until a worker has detected the others, it may use the whole per-endpoint limit.
  assert.ok(most <= 3 * MAXIMUM_IN_FLIGHT_PER_ENDPOINT, `${most} at once`)
  const connections = new Set(receiver.received.map(({ connection }) => connection)).size
  assert.ok(connections <= 3 * MAXIMUM_IN_FLIGHT_PER_ENDPOINT, `${connections} connections for 601 requests`)
})

test('a stopping worker lets requests in flight finish and releases unsent ones without counting an attempt', async () => {
  const endpointId = await freshEndpoint()
  let answer = () => undefined as unknown
  receiver.reply = (_, response) => void (answer = () => response.writeHead(204).end())
  // Accepts connections and never responds, so no request is sent.
  const sockets: Socket[] = []
  const mute = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const silent = await made.endpoint(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`)
  const running = await startWorker()
  await made.event()
  await made.until(
    (rows) => rows.length === 2 && rows.every(({ claim_id }) => claim_id) && receiver.received.length === 1,
    'under way',
  )
  const stopped = running[Symbol.asyncDispose]()
  answer()
  await stopped
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => mute.close(resolve))
  const rows = await world.sql`
    select webhook_endpoint_id, state, attempt, claim_id, next_attempt_at = created_at as is_as_before
    from delivery order by webhook_endpoint_id = ${silent}`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      {
        webhook_endpoint_id: endpointId,
        state: 'delivered',
        attempt: 1,
        claim_id: null,
        is_as_before: true,
      },
      {
        webhook_endpoint_id: silent,
        state: 'pending',
        attempt: 0,
        claim_id: null,
        is_as_before: true,
      },
    ],
  )
  const attempts = await world.sql`select delivery_id from delivery_attempt`
  assert.equal(attempts.length, 1)
})

test('a hanging receiver delays only its own deliveries, whatever its backlog', async () => {
  const healthy = await freshEndpoint()
  const hanging = await made.endpoint(`${receiver.url}/hanging`)
  receiver.reply = ({ path }) => (path.endsWith('/hanging') ? undefined : 204)
  await made.event()
  await multiply(hanging, 500)
  const running = await startWorker()
  await made.until(() => receiver.received.some(({ path }) => path.endsWith('/hanging')), 'hanging')
  await multiply(healthy, 50)
  const isDelivered = ({ state }: DeliveryState) => state === 'delivered'
  const rows = await made.until((all) => all.filter(isDelivered).length === 51, 'the others delivered')
  const hasEnded = (row: DeliveryState) => row.attempts.length > 0
  assert.deepEqual(rows.filter(hasEnded), rows.filter(isDelivered), 'no hanging request has ended')
  assert.ok(receiver.received.filter(({ path }) => path.endsWith('/hanging')).length <= INITIAL_WINDOW)
  // The worker would otherwise wait for this request at shutdown.
  receiver.received.length = 0
  await world.sql`update webhook_endpoint set status = 'deleted' where webhook_endpoint_id = ${hanging}`
  receiver.cut()
  await running[Symbol.asyncDispose]()
})
