import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorld } from '@agent-exchange/testkit'

const POLL_MS = 10
const PATIENCE_MS = 10_000
/** Half of the time that requests under way have. */
const SLOW_STOP_MS = 5_000

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const refused = await once(socket, 'connect').then(
    () => false,
    () => true,
  )
  socket.destroy()
  return refused
}

test('[ERR-01] a request that was being sent when the service began to stop gets its response', async () => {
  const world = await startWorld()
  const port = Number(new URL(world.url).port)
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET /v1/notifications HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`)
  // The server has the first half before it stops: a response on another connection is later.
  await fetch(`${world.url}/openapi.json`).then((answer) => answer.text())
  const stopped = world[Symbol.asyncDispose]()
  for (let waited = 0; !(await isRefused(port)); waited += POLL_MS) {
    assert.ok(waited < PATIENCE_MS, 'the service does not stop')
    await sleep(POLL_MS)
  }
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  socket.write('X-Correlation-ID: late\r\n\r\n')
  await once(socket, 'close')
  assert.match(received, /^HTTP\/1\.1 401 /u)
  assert.match(received, /^content-type: application\/problem\+json/imu)
  assert.match(received, /^connection: close/imu)
  await stopped
})

test('connections that sent nothing to either listener do not delay the end of the service', async () => {
  const world = await startWorld()
  const silent = await Promise.all(
    [world.url, world.operatorUrl].map(async (url) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      await once(socket.on('error', () => undefined).resume(), 'connect')
      return socket
    }),
  )
  // The listeners have accepted them.
  for (const url of [world.url, world.operatorUrl]) await fetch(url).then((answer) => answer.text())
  const begun = performance.now()
  const closed = silent.map((socket) => once(socket, 'close'))
  await Promise.all([world[Symbol.asyncDispose](), ...closed])
  assert.ok(performance.now() - begun < SLOW_STOP_MS)
})
