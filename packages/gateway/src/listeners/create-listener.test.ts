import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { testAuthority } from '@agent-exchange/testkit'
import { Registry } from 'prom-client'
import { listenForWebhooks } from '../agents/webhook-listener.ts'
import { listenForAdministration } from '../operations/admin-listener.ts'
import { closeListener } from './create-listener.ts'
import { LISTENER_LIMITS } from './listener-limits.ts'

const HOST = '127.0.0.1'
const SMALL = { connections: 1, requestMs: 300 }
const PROMPT_MS = 1_000
const opened: Server[] = []
after(() => opened.forEach((server) => server.close().closeAllConnections()))

type Given = Partial<Parameters<typeof listenForWebhooks>[1]>
const webhooks = (given: Given) =>
  listenForWebhooks({ receiverOf: () => undefined }, { host: HOST, port: 0, tls: undefined, ...given })
const administration = (given: Given) =>
  listenForAdministration({
    host: HOST,
    port: 0,
    tls: undefined,
    isReady: () => true,
    metrics: new Registry(),
    ...given,
  })

async function listening(open: typeof webhooks, given: Given = {}): Promise<Server> {
  const server = await open(given)
  opened.push(server)
  return server
}

async function connected(server: Server): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, HOST)
  socket.on('error', () => undefined).resume()
  await once(socket, 'connect')
  return socket
}

for (const [name, open] of [
  ['webhook receiver', webhooks],
  ['administration', administration],
] as const) {
  test(`the ${name} closes connections whose request does not arrive, and those beyond its limit`, async () => {
    const server = await listening(open, { limits: SMALL })
    const slow = await connected(server)
    const begun = performance.now()
    slow.write('GET /unknown HTTP/1.1\r\nhost: gateway\r\n')
    await once(await connected(server), 'close')
    assert.ok(!slow.destroyed, 'the first connection stays open')
    await once(slow, 'close')
    assert.ok(performance.now() - begun < LISTENER_LIMITS.requestMs / 5)
    const next = await connected(server)
    next.write('GET /unknown HTTP/1.1\r\nhost: gateway\r\n\r\n')
    assert.match(String((await once(next, 'data'))[0]), /^HTTP\/1\.1 404 /u)
  })

  test(`the ${name} ends without waiting for connections that sent nothing`, async () => {
    const server = await listening(open)
    const silent = await connected(server)
    const begun = performance.now()
    await Promise.all([closeListener(server), once(silent, 'close')])
    assert.ok(performance.now() - begun < PROMPT_MS)
  })

  test(`the ${name} has the limits of every listener, with and without TLS`, async () => {
    const tls = await (await testAuthority()).server()
    for (const given of [{}, { tls }]) {
      const server = await listening(open, given)
      const { connections, requestMs } = LISTENER_LIMITS
      assert.deepEqual([server.maxConnections, server.requestTimeout], [connections, requestMs])
      assert.ok(server.timeout > 0, 'a silent connection is closed')
      assert.ok(server.headersTimeout < requestMs)
    }
  })
}
