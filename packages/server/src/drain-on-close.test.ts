import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { testAuthority, until } from '@agent-exchange/testkit'
import { drainOnClose } from './drain-on-close.ts'

const HOST = '127.0.0.1'
const PROMPT_MS = 1_000
/** More than the buffers of both sockets hold. */
const LARGE_BYTES = 32 * 1_048_576
const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

const opened: Server[] = []
after(() => opened.forEach((server) => server.close().closeAllConnections()))

const { certificate: cert, key } = await (await testAuthority()).server()
const KINDS = {
  'without TLS': {
    create: (answer: RequestListener) => createServer(answer),
    connect: (port: number) => connect(port, HOST),
    connected: 'connect',
    accepted: 'connection',
  },
  'with TLS': {
    create: (answer: RequestListener) => createTlsServer({ cert, key }, answer),
    connect: (port: number): Socket => connectTls({ port, host: HOST, rejectUnauthorized: false }),
    connected: 'secureConnect',
    accepted: 'secureConnection',
  },
}

async function listen(server: Server, limitMs?: number): Promise<number> {
  drainOnClose(server, limitMs)
  opened.push(server.listen(0, HOST))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function msUntilClosed(server: Server): Promise<number> {
  const begun = performance.now()
  await new Promise((resolve) => server.close(resolve))
  return performance.now() - begun
}

for (const [name, kind] of Object.entries(KINDS)) {
  const begin = async (port: number): Promise<Socket> => {
    const socket = kind.connect(port)
    socket.on('error', () => undefined)
    await once(socket, kind.connected)
    return socket
  }

  test(`a listener ${name} closes connections without a request at once`, async () => {
    const server = kind.create((_request, response) => response.end('done'))
    const port = await listen(server)
    await begin(port)
    // It has sent nothing, not even a handshake.
    await once(
      connect(port, HOST).on('error', () => undefined),
      'connect',
    )
    const answered = await begin(port)
    answered.write(REQUEST)
    await once(answered, 'data')
    assert.ok((await msUntilClosed(server)) < PROMPT_MS)
  })

  test(`a listener ${name} answers requests under way in full, then closes their connections`, async () => {
    let finish = () => undefined as unknown
    const server = kind.create((request, response) => {
      if (request.url === '/large') response.end(Buffer.alloc(LARGE_BYTES))
      else finish = () => response.end('late')
    })
    const port = await listen(server)
    const waiting = await begin(port)
    waiting.write(REQUEST)
    await once(server, 'request')
    const large = await begin(port)
    large.write(REQUEST.replace('/', '/large'))
    // The whole answer is written, and its caller has read little of it.
    let received = (await once(large, 'data'))[0].length
    large.pause()
    const accepted = once(server, kind.accepted)
    const half = await begin(port)
    const [halfReceived] = (await accepted) as [Socket]
    half.write(REQUEST.slice(0, -2))
    await until('half of a request has arrived', () => halfReceived.bytesRead >= REQUEST.length - 2)

    const closed = msUntilClosed(server)
    let late = ''
    waiting.setEncoding('utf8').on('data', (text: string) => (late += text))
    finish()
    await once(waiting, 'close')
    assert.match(late, /connection: close[^]*late/iu)
    half.write('\r\n')
    await once(server, 'request')
    finish()
    await once(half.resume(), 'close')
    large.on('data', (chunk: Buffer) => (received += chunk.length)).resume()
    await once(large, 'close')
    assert.ok(received > LARGE_BYTES)
    assert.ok((await closed) < PROMPT_MS)
  })
}

test('a listener closes connections whose requests are not answered in time', async () => {
  const server = createServer(() => undefined)
  const port = await listen(server, 50)
  const socket = connect(port, HOST)
  socket.write(REQUEST)
  await once(server, 'request')
  const closed = msUntilClosed(server)
  await once(socket.resume(), 'close')
  assert.ok((await closed) < PROMPT_MS)
})
