import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { allDelivered, deliveryWorld, sendPackage, sendReceipt } from '@agent-exchange/testkit'

const made = await deliveryWorld()
const { world, receiver, sender, owner } = made
after(() => made[Symbol.asyncDispose]())

const move = async (action: 'suspend' | 'activate') => {
  const answer = await world.operate('POST', `/organizations/${owner.organizationId}/${action}`, {
    reason: 'test',
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

async function freshEndpoint(url?: string): Promise<string> {
  await world.sql`delete from delivery`
  await world.sql`update webhook_endpoint set status = 'deleted'`
  receiver.received.length = 0
  receiver.reply = () => 204
  return made.endpoint(url)
}

test('[EVT-01] a suspended organization gets neither retries nor new webhooks; all are sent when it is active again', async () => {
  const own = await sendPackage(owner, sender)
  await freshEndpoint()
  receiver.reply = () => 503
  await made.event()
  await made.until(([row]) => row?.attempts.length === 1, 'tried')
  receiver.reply = () => 204
  await move('suspend')
  // Actions of others on its packages still create events for it.
  assert.equal((await sendReceipt(sender, own.metadata, 'received')).status, 201)
  world.clock.advance(120)
  await sleep(2_500)
  assert.equal(receiver.received.length, 1)
  const waiting = await made.deliveries()
  assert.deepEqual(
    waiting.map(({ state, attempt, attempts }) => [state, attempt, attempts.length]),
    [
      ['pending', 1, 1],
      ['pending', 0, 0],
    ],
  )
  await move('activate')
  const rows = await made.until(allDelivered, 'delivered')
  assert.deepEqual(
    rows.map(({ attempt }) => attempt),
    [2, 1],
  )
  assert.equal(receiver.received.length, 3)
  const stream = await owner.get('/v1/notifications')
  const sequences = (stream.body['items'] as { sequence: number }[]).map(({ sequence }) => sequence)
  assert.deepEqual(sequences, [1, 2, 3], 'the stream has all')
})

test('[EVT-01] suspending an organization cancels its unsent requests, which do not count as attempts', async () => {
  // Accepts connections and never responds, so no request is sent before the TLS handshake.
  const sockets: Socket[] = []
  const mute = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  try {
    await freshEndpoint(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`)
    await made.event()
    await made.until(([row]) => row?.claim_id !== null && sockets.length > 0, 'under way')
    await move('suspend')
    const [row] = await made.until(([first]) => first?.claim_id === null, 'given back')
    assert.deepEqual([row?.state, row?.attempt, row?.attempts.length], ['pending', 0, 0])
    const connections = sockets.length
    await sleep(2_500)
    assert.equal(sockets.length, connections, 'nobody connects any more')
    await move('activate')
    await made.until(([first]) => first?.claim_id !== null, 'claimed again')
  } finally {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => mute.close(resolve))
  }
})
