import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import {
  createEventStream,
  DEFAULT_EVENT_STREAM_LIMITS,
  EVENT_STREAM_HEADERS,
  type EventStream,
} from './event-stream.ts'

const limits = DEFAULT_EVENT_STREAM_LIMITS

/** A real server whose answers are event streams; `streams` yields each of them. */
async function serve(t: TestContext, changes: Partial<typeof limits> = {}) {
  const opened = Promise.withResolvers<{ stream: EventStream; response: ServerResponse }>()
  const server = createServer((_request, response) => {
    response.writeHead(200, EVENT_STREAM_HEADERS)
    opened.resolve({ stream: createEventStream(response, { ...limits, ...changes }), response })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, address: `http://127.0.0.1:${port}/`, opened: opened.promise }
}

test('events arrive whole, whatever line breaks their data has', { timeout: 10_000 }, async (t) => {
  const { address, opened } = await serve(t)
  const response = await fetch(address)
  const { stream } = await opened
  assert.ok(stream.send({ event: 'changed', data: 'a\nb\r\nc\rdata: d', id: '7' }))
  stream.close()
  assert.equal(
    await response.text(),
    'retry: 3000\n\nid: 7\nevent: changed\ndata: a\ndata: b\ndata: c\ndata: data: d\n\n',
  )
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.ok(!stream.isOpen)
  assert.ok(!stream.send({ event: 'late', data: '' }))
})

test('a name or an id cannot smuggle a field in', { timeout: 10_000 }, async (t) => {
  const { address, opened } = await serve(t)
  const response = await fetch(address)
  const { stream } = await opened
  for (const value of ['a\ndata: forged', 'a\rdata: forged', 'a\0'])
    for (const event of [
      { event: value, data: '' },
      { event: 'e', data: '', id: value },
    ])
      assert.throws(() => stream.send(event), /line break/u)
  stream.close()
  assert.doesNotMatch(await response.text(), /forged/u)
})

test('a quiet stream is kept alive, and ends at its limit', { timeout: 10_000 }, async (t) => {
  const { address } = await serve(t, { heartbeatMs: 20, maximumDurationMs: 150 })
  const text = await (await fetch(address)).text()
  assert.ok(text.split('\n').filter((line) => line === ':').length >= 2, text)
})

test('a client that never reads is disconnected at the size limit', { timeout: 20_000 }, async (t) => {
  const { port, opened } = await serve(t, { maximumBufferedBytes: 32 * 1024 })
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const { stream, response } = await opened
  const data = 'x'.repeat(16 * 1024)
  let sent = 0
  // The kernel's own buffers take some megabytes first.
  while (stream.send({ event: 'e', data }) && sent < 4_000) {
    sent += 1
    assert.ok(response.writableLength <= 32 * 1024)
    await new Promise(setImmediate)
  }
  assert.ok(sent < 4_000)
  assert.ok(!stream.isOpen)
  assert.ok(response.destroyed)
})
