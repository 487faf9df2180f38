import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { allDelivered, deliveryWorld, startWorld, type DeliveryState } from '@agent-exchange/testkit'

const made = await deliveryWorld()
const { world, receiver } = made
after(() => made[Symbol.asyncDispose]())
const webhook = { ca: receiver.authority.certificate, allowPrivate: true }

test('[O-45] until its first 2xx response an endpoint gets one request at a time and one per second, across all workers', async () => {
  await using running = new AsyncDisposableStack()
  running.use(await startWorld({ beside: world, config: { role: 'worker', webhook } }))
  const starts: number[] = []
  let underWay = 0
  let most = 0
  receiver.reply = (_, response) => {
    starts.push(performance.now())
    most = Math.max(most, ++underWay)
    setTimeout(() => {
      underWay--
      response.writeHead(503).end()
    }, 200)
  }
  await made.endpoint()
  for (let i = 0; i < 12; i++) await made.event()
  await made.until(() => starts.length >= 3, 'three requests')
  assert.equal(most, 1)
  const pauses = starts.slice(1).map((at, i) => at - (starts[i] ?? 0))
  // Claims are one second apart; the delay from claim to request varies. Without the limit, a request would follow the
  // previous answer after 200 ms.
  assert.ok(Math.min(...pauses) > 500, String(pauses))

  receiver.reply = () => 204
  // What fails after the clock was moved would wait for its retry by the real time.
  const isTried = ({ state, claim_id, attempts }: DeliveryState) =>
    state === 'delivered' || (claim_id === null && attempts.length > 0)
  await made.until((rows) => rows.every(isTried), 'tried')
  world.clock.advance(60)
  await made.until(allDelivered, 'all delivered')
  const [endpoint] = await world.sql`select answered_at from webhook_endpoint`
  assert.ok(endpoint?.['answered_at'])
})

test('[O-45] a hanging endpoint holds one request', async () => {
  await world.sql`update webhook_endpoint set status = 'deleted'`
  receiver.received.length = 0
  receiver.reply = () => undefined
  const endpointId = await made.endpoint()
  for (let i = 0; i < 3; i++) await made.event()
  await sleep(2_500)
  assert.equal(receiver.received.length, 1)
  await world.sql`update webhook_endpoint set status = 'deleted' where webhook_endpoint_id = ${endpointId}`
  receiver.cut()
})
