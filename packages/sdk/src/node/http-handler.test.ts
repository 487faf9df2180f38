import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, request as requestTls } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testAuthority } from '@agent-exchange/testkit'
import { directoryOf, envelope, handlerFor, signedDelivery, testKey } from '../receive/delivery.fixture.ts'
import { toNodeListener } from './http-handler.ts'

const key = await testKey('key_n1')
const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())

const webhooks = (limits = {}) => handlerFor(directoryOf([key]), { limits })

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Sends bytes as they stand and returns what comes back until the connection ends or the time is over. */
async function raw(port: number, parts: readonly (string | Uint8Array)[], waitMs = 20_000): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const part of parts) {
    socket.write(part)
    await sleep(5)
  }
  await Promise.race([closed, sleep(waitMs, undefined, { ref: false })])
  socket.destroy()
  return text
}

test('[EVT-06][EVT-14] over TLS the signed authority and path are those of the request', async () => {
  const authority = await testAuthority()
  const { certificate: cert, key: privateKey } = await authority.server()
  const { handler, inbox } = webhooks()
  const server = createTlsServer({ cert, key: privateKey }, toNodeListener(handler)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(() => void server.close())
  const { port } = server.address() as AddressInfo
  const url = `https://localhost:${port}/hooks/a%20b?tenant=7`
  const { headers, body } = await signedDelivery(key, envelope(1), { url })
  const status = await new Promise((resolve, reject) => {
    const request = requestTls(url, { method: 'POST', headers, ca: authority.certificate, agent: false })
    request.on('response', (response) => resolve(response.resume().statusCode))
    request.on('error', reject)
    request.end(body)
  })
  assert.equal(status, 204)
  assert.equal((await inbox.position()).pending, 1)
})

test('[EVT-14] the bytes reach the handler as they came, in however many pieces', async () => {
  const { handler, inbox } = webhooks()
  const port = await serve(toNodeListener(handler))
  const url = `http://127.0.0.1:${port}/in`
  const { headers, body } = await signedDelivery(key, envelope(1, { correlation_id: 'ä€𝄞' }), { url })
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const lines = `POST /in HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${head.join('')}`
  const chunked = [`${lines}Transfer-Encoding: chunked\r\n\r\n`]
  for (let i = 0; i < body.length; i += 100) {
    const piece = body.subarray(i, i + 100)
    chunked.push(`${piece.length.toString(16)}\r\n`, Buffer.from(piece).toString('latin1'), '\r\n')
  }
  chunked.push('0\r\n\r\n')
  const answer = await raw(
    port,
    chunked.map((part) => Buffer.from(part, 'latin1')),
  )
  assert.match(answer, /^HTTP\/1\.1 204 /)
  assert.equal((await inbox.list('pending', 9))[0]?.body.includes('ä€𝄞'), true)
})

test('a field that is sent twice is not overlooked', async () => {
  const { handler } = webhooks()
  const port = await serve(toNodeListener(handler))
  const { headers, body } = await signedDelivery(key, envelope(1), { url: `http://127.0.0.1:${port}/in` })
  const head = [...Object.entries(headers), ['svc-event-id', 'evt_2']].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const lines = `POST /in HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${head.join('')}`
  const answer = await raw(port, [`${lines}Content-Length: ${body.length}\r\n\r\n`, body])
  assert.match(answer, /^HTTP\/1\.1 401 /)
})

test('a body without end, a slow one and one that is too long are answered, and cost nothing more', async () => {
  const { handler, inbox } = webhooks({ maximumBytes: 1_000, timeoutMs: 30_000 })
  const port = await serve(toNodeListener(handler))
  const impatient = await serve(toNodeListener(webhooks({ timeoutMs: 150 }).handler))
  const head = `POST / HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/json\r\n`
  assert.match(
    await raw(port, [`${head}Content-Length: 5000000\r\n\r\n`]),
    /^HTTP\/1\.1 413 .*connection: close/is,
  )
  const endless = Array.from({ length: 30 }, () => `64\r\n${'x'.repeat(100)}\r\n`)
  assert.match(await raw(port, [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...endless]), /^HTTP\/1\.1 413 /)
  const slow = await raw(impatient, [`${head}Content-Length: 100\r\n\r\n`, '{'])
  assert.match(slow, /^HTTP\/1\.1 408 /)
  assert.match(
    await raw(port, ['GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n']),
    /^HTTP\/1\.1 405 /,
  )
  assert.equal((await inbox.position()).pending, 0)
})

test('a sender that hangs up in the middle is no trouble', async () => {
  const { handler } = webhooks({ timeoutMs: 5_000 })
  const port = await serve(toNodeListener(handler))
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{')
  await sleep(30)
  socket.destroy()
  await sleep(30)
  assert.match(
    await raw(port, ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n']),
    /^HTTP\/1\.1 405 /,
  )
})

test('an unreadable request, and one whose body was already parsed, get a clear error', async () => {
  const { handler } = webhooks()
  const port = await serve(toNodeListener(handler))
  const unreadable = await raw(port, ['GET / HTTP/1.1\r\nHost: a b c\r\nConnection: close\r\n\r\n'])
  assert.match(unreadable, /^HTTP\/1\.1 400 /)
  const eaten = await serve((request, response) => {
    request.on('data', () => undefined)
    request.on('end', () => toNodeListener(handler)(request, response))
  })
  const answer = await raw(eaten, [
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
  ])
  assert.match(answer, /^HTTP\/1\.1 500 .*before any body parser/s)
})
