import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { startReceiver } from '@agent-exchange/testkit'
import { createSender, idleTimeOf } from './sender.ts'
import { IDLE_CONNECTION_MS, MAXIMUM_KEPT_CONNECTIONS, SHORT_IDLE_CONNECTION_MS } from './webhook-limits.ts'

const receiver = await startReceiver()
after(() => receiver[Symbol.asyncDispose]())
const settings = { ca: receiver.authority.certificate, allowPrivate: true }
const outgoing = (url = receiver.url) => ({
  url,
  organizationId: 'org_a',
  headers: { 'Content-Type': 'application/json' },
  body: Buffer.from('{"a":1}'),
})

test('connections are reused, and no more are opened than there are concurrent requests', async () => {
  const sender = createSender(settings)
  const before = receiver.connections()
  for (let i = 0; i < 5; i++) {
    const sent = await sender.send(outgoing())
    assert.deepEqual(sent.result, { kind: 'answer', status: 204, retryAfter: undefined })
    assert.deepEqual([sent.address, sent.tlsVersion], ['127.0.0.1', 'TLSv1.3'])
  }
  // The first connection may still be closing when the next request starts.
  assert.ok(receiver.connections() - before <= 2)
  await Promise.all(Array.from({ length: 10 }, () => sender.send(outgoing())))
  assert.ok(receiver.connections() - before <= 12)
  await sender.close()
})

test('each concurrent request reports the address of its own connection', async () => {
  const other = await startReceiver({ authority: receiver.authority })
  const sender = createSender({
    ...settings,
    resolve: async (name) => (name === 'localhost' ? ['127.0.0.1'] : []),
  })
  const sent = await Promise.all(
    [receiver.url, other.url, 'https://nowhere.example/'].map((url) => sender.send(outgoing(url))),
  )
  assert.deepEqual(
    sent.map(({ address }) => address),
    ['127.0.0.1', '127.0.0.1', undefined],
  )
  assert.deepEqual(sent[2]?.result, { kind: 'error', errorClass: 'dns' })
  await sender.close()
  await other[Symbol.asyncDispose]()
})

test('cancelling ends unsent requests without a result; interrupting ends the others with one', async () => {
  // Accepts connections and never responds.
  const sockets: Socket[] = []
  const mute = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  receiver.reply = () => undefined
  const sender = createSender(settings)
  const waiting = sender.send(outgoing(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`))
  const before = receiver.received.length
  const underWay = sender.send(outgoing())
  for (let tries = 0; tries < 2_000 && receiver.received.length === before; tries++) await sleep(10)
  sender.cancelUnsent()
  const recalled = await waiting
  assert.deepEqual([recalled.result, recalled.hasStarted], [undefined, false])
  sender.interrupt()
  const interrupted = await underWay
  assert.deepEqual(interrupted.result, { kind: 'error', errorClass: 'interrupted' })
  assert.equal(interrupted.hasStarted, true)
  await sender.close()
  // Unread sockets never see the end of the connection, and would keep the process alive.
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => mute.close(resolve))
  receiver.reply = () => 204
})

test('a URL that cannot be used fails the attempt, not the process', async () => {
  const sender = createSender(settings)
  for (const url of ['https://127.0.0.1:1/', 'http://127.0.0.1/']) {
    const sent = await sender.send(outgoing(url))
    assert.equal(sent.result?.kind, 'error', url)
  }
  await sender.close()
})

/** Enough that an idle connection is used again. */
const SENT_AGAIN = 5

/** Answers the first requests of each connection with 204, and resets the connection at the next one. */
async function startForgetful(answered: number) {
  const { certificate: cert, key } = await receiver.authority.server()
  const requests: number[] = []
  let connections = 0
  const server = createTlsServer({ cert, key }, (socket) => {
    const connection = ++connections
    let left = answered
    socket.on('error', () => undefined)
    socket.on('data', (data: Buffer) => {
      if (!data.toString('latin1').startsWith('POST ')) return
      requests.push(connection)
      if (left-- > 0) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      else socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    requests,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

test('a receiver that closes an idle connection as it is used again costs no attempt', async () => {
  const forgetful = await startForgetful(1)
  const sender = createSender(settings)
  for (let i = 0; i < SENT_AGAIN; i++) {
    const sent = await sender.send(outgoing(forgetful.url))
    assert.deepEqual(sent.result, { kind: 'answer', status: 204, retryAfter: undefined })
    assert.deepEqual([sent.hasStarted, sent.error], [true, undefined])
  }
  // The first connection may still be closing when the next request starts, so it is not always the one that is reused.
  assert.ok(forgetful.requests.length > SENT_AGAIN, 'a request was repeated')
  await sender.close()
  await forgetful.close()
})

test('a new connection that is reset fails the attempt, and nothing is sent twice', async () => {
  const forgetful = await startForgetful(0)
  const sender = createSender(settings)
  const sent = await sender.send(outgoing(forgetful.url))
  assert.deepEqual(sent.result, { kind: 'error', errorClass: 'reset' })
  assert.deepEqual(forgetful.requests, [1])
  await sender.close()
  await forgetful.close()
})

test('connections stay open between webhooks of a quiet receiver, as long as they are few', () => {
  assert.equal(idleTimeOf(0), IDLE_CONNECTION_MS)
  assert.equal(idleTimeOf(MAXIMUM_KEPT_CONNECTIONS - 1), IDLE_CONNECTION_MS)
  assert.equal(idleTimeOf(MAXIMUM_KEPT_CONNECTIONS), SHORT_IDLE_CONNECTION_MS)
})
