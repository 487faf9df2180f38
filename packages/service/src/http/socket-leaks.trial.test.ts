import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorld, testAuthority } from '@agent-exchange/testkit'

const authority = await testAuthority()
const identity = await authority.server()
const world = await startWorld()
const secure = await startWorld({ config: { tls: { ...identity, clientCa: undefined } } })
after(() => Promise.all([world[Symbol.asyncDispose](), secure[Symbol.asyncDispose]()]))

const CLIENTS = 50
/** The service opens and closes connections to the database meanwhile. */
const SPARE_DESCRIPTORS = 10
const LISTENERS = {
  agent: world.url,
  operator: world.operatorUrl,
  'agent over TLS': secure.url,
  'operator over TLS': secure.operatorUrl,
}

const descriptors = () => readdirSync('/proc/self/fd').length

/** A client that never closes its side. */
async function dial(url: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined).resume()
  await once(socket, 'connect')
  return socket
}

/** Opens clients that never close and waits until the server has closed its side of the connections. */
async function leftBehind(urls: readonly string[], bytes: string, limitSeconds: number): Promise<number> {
  const before = descriptors()
  const clients: Socket[] = []
  for (const url of urls) {
    for (let i = 0; i < CLIENTS; i++) clients.push(await dial(url))
  }
  const isOpen = (client: Socket) => !client.closed
  const left = () => descriptors() - before - clients.filter(isOpen).length
  await sleep(100)
  assert.ok(left() >= clients.length - SPARE_DESCRIPTORS, 'at first both ends are open')
  if (bytes !== '') for (const client of clients) client.write(bytes)
  for (let tries = 0; tries < limitSeconds * 10 && left() > 0; tries++) await sleep(100)
  const found = left()
  for (const client of clients) client.destroy()
  return found
}

const isLinux = { skip: process.platform !== 'linux' && 'descriptors are counted by /proc' }

for (const [name, url] of Object.entries(LISTENERS)) {
  test(`${name}: a broken request leaves no half-closed socket behind`, isLinux, async () => {
    const left = await leftBehind([url], 'nonsense\r\n\r\n', 5)
    assert.ok(left <= SPARE_DESCRIPTORS, `${left} of ${CLIENTS} sockets are still open`)
  })
}

test('a peer that resets its connection after a broken request does not affect others', async () => {
  for (const start of ['CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 'nonsense\r\n\r\n']) {
    for (let i = 0; i < CLIENTS; i++) {
      const client = await dial(world.url)
      client.write(start)
      setTimeout(() => {
        client.write('more')
        client.resetAndDestroy()
      }, i)
    }
  }
  await sleep(1_500)
  assert.equal((await fetch(`${world.url}/openapi.json`)).status, 200)
})

test('silent sockets are closed soon on all listeners', isLinux, async () => {
  const left = await leftBehind(Object.values(LISTENERS), '', 16)
  assert.ok(left <= SPARE_DESCRIPTORS, `${left} sockets are still open`)
})
