import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { testAuthority } from '@agent-exchange/testkit'
import {
  limitConnections,
  markAuthenticated,
  type ConnectionRules,
  type LimitOutcome,
} from './connection-limit.ts'

const authority = await testAuthority()
const { certificate: cert, key } = await authority.server()

/** `/hold` responds on request; `/known` counts as authenticated. */
async function startListener(kind: 'http' | 'https', rules: Partial<ConnectionRules>) {
  const outcomes: LimitOutcome[] = []
  let held = 0
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const answer: RequestListener = ({ url, socket }, response) => {
    if (url?.includes('known')) markAuthenticated(socket)
    if (url?.includes('hold')) held++
    void (url?.includes('hold') ? released : Promise.resolve()).then(() => response.end('answered'))
  }
  const server = kind === 'http' ? createServer(answer) : createTlsServer({ cert, key }, answer)
  limitConnections(server, {
    total: 6,
    perAddress: 4,
    isProxy: () => false,
    proxiesOnly: false,
    onLimit: (outcome) => void outcomes.push(outcome),
    ...rules,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients: Socket[] = []
  const dial = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    clients.push(socket)
    socket.on('error', () => undefined).resume()
    await once(socket, 'connect')
    return socket
  }
  /** Opens a connection and sends a request. */
  const ask = async (path: string, localAddress?: string) => {
    const raw = await dial(localAddress)
    const socket =
      kind === 'http' ? raw : connectTls({ socket: raw, ca: authority.certificate, servername: 'localhost' })
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (part) => (text += String(part)))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return { socket: raw, isAnswered: () => text.includes('answered') }
  }
  const count = async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    server.getConnections((_error, connections) => resolve(connections))
    return promise
  }
  after(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  return { dial, ask, count, held: () => held, outcomes, release }
}

/** True as soon as the condition holds, false after a timeout. */
async function becomes(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (await condition()) return true
    await sleep(10)
  }
  return false
}

for (const kind of ['http', 'https'] as const) {
  test(`${kind}: a flood of silent sockets from one address locks nobody out`, async () => {
    const listener = await startListener(kind, {})
    for (let i = 0; i < 40; i++) await listener.dial()
    assert.ok(await becomes(async () => (await listener.count()) === 4))
    const caller = await listener.ask('/known')
    assert.ok(await becomes(caller.isAnswered))
    assert.equal(listener.outcomes.filter((outcome) => outcome === 'closed_for_another').length, 37)
    // New connections evict silent ones, not the idle authenticated caller.
    for (let i = 0; i < 40; i++) await listener.dial()
    assert.ok(await becomes(async () => (await listener.count()) === 4))
    assert.equal(caller.socket.closed, false)
  })

  test(`${kind}: a flood from many addresses locks nobody out`, async () => {
    const listener = await startListener(kind, {})
    for (let i = 2; i < 42; i++) await listener.dial(`127.0.1.${i}`)
    assert.ok(await becomes(async () => (await listener.count()) === 6))
    const caller = await listener.ask('/known')
    assert.ok(await becomes(caller.isAnswered))
  })

  test(`${kind}: a connection with an authenticated request is never evicted; the new one is refused instead`, async () => {
    const listener = await startListener(kind, {})
    const callers = []
    for (let i = 0; i < 4; i++) callers.push(await listener.ask('/known/hold'))
    assert.ok(await becomes(() => listener.held() === 4))
    const newcomer = await listener.dial()
    assert.ok(await becomes(() => newcomer.closed))
    assert.deepEqual(listener.outcomes, ['refused'])
    // Another address still has room, and its unauthenticated connections evict each other.
    const strangers = [
      await listener.ask('/hold', '127.0.0.9'),
      await listener.ask('/hold', '127.0.0.9'),
      await listener.ask('/hold', '127.0.0.9'),
    ]
    assert.ok(await becomes(() => strangers.filter(({ socket }) => socket.closed).length === 1))
    listener.release()
    for (const caller of callers) assert.ok(await becomes(caller.isAnswered))
  })
}

test('trusted proxies are exempt from the limit per address; with proxiesOnly all other peers are refused', async () => {
  const isProxy = (address: string | undefined) => address === '127.0.0.7'
  const shared = await startListener('http', { isProxy })
  for (let i = 0; i < 6; i++) await shared.dial('127.0.0.7')
  assert.equal(await shared.count(), 6)
  assert.deepEqual(shared.outcomes, [])

  const alone = await startListener('http', { isProxy, proxiesOnly: true })
  const stranger = await alone.ask('/known')
  assert.ok(await becomes(() => stranger.socket.closed))
  assert.equal(stranger.isAnswered(), false)
  const proxy = await alone.ask('/known', '127.0.0.7')
  assert.ok(await becomes(proxy.isAnswered))
  assert.deepEqual(alone.outcomes, ['not_a_proxy'])
})
