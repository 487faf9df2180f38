import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openAll, type Outgoing } from './connection.ts'
import { closedLoop, openLoop } from './loops.ts'

async function startServer(onRequest: RequestListener) {
  const server = createServer(onRequest)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const post = (body: string): Outgoing => ({
  head: `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
  body: Buffer.from(body),
})

test('a closed loop sends whole requests and reads whole answers, however they are cut up', async () => {
  const bodies: string[] = []
  await using server = await startServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(body)
      const answer = 'ä'.repeat(bodies.length * 1_000)
      response.writeHead(202, { 'content-length': Buffer.byteLength(answer) })
      response.write(answer.slice(0, 10))
      setTimeout(() => response.end(answer.slice(10)), 2)
    })
  })
  const waiting = Array.from({ length: 40 }, (_, i) => `body ${i}`)
  const connections = await openAll(server, 4)
  const next = () => {
    const body = waiting.shift()
    return body === undefined ? undefined : post(body)
  }
  const outcome = await closedLoop(connections, next, { rampMs: 0, measureMs: 60_000, status: 202 })
  connections.forEach((connection) => connection.close())
  assert.equal(outcome.requests, 40)
  assert.equal(new Set(bodies).size, 40)
  assert.ok(outcome.p50Ms >= 1 && outcome.p99Ms >= outcome.p50Ms)
})

test('another status than the wanted one ends the run and is shown', async () => {
  await using server = await startServer((request, response) => {
    request.resume()
    response.writeHead(409, { 'content-length': 5 }).end('sorry')
  })
  const [connection] = await openAll(server, 1)
  assert.ok(connection)
  const run = closedLoop([connection], () => post('a'), { rampMs: 0, measureMs: 1_000, status: 202 })
  await assert.rejects(run, /answered 409 instead of 202: [^]*sorry/)
  connection.close()
})

test('an open loop keeps its pace, and waiting for a free connection counts', async () => {
  let answered = 0
  await using server = await startServer((request, response) => {
    request.resume()
    answered++
    setTimeout(() => response.writeHead(204).end(), 20)
  })
  const connections = await openAll(server, 1)
  const outcome = await openLoop(connections, () => post('a'), {
    rampMs: 0,
    measureMs: 300,
    status: 204,
    perSecond: 100,
  })
  connections.forEach((connection) => connection.close())
  assert.ok(Math.abs(outcome.requests - 30) <= 2, `${outcome.requests} requests in 0.3 s`)
  assert.equal(answered, outcome.requests)
  // One connection answers fifty a second: the last of thirty waits for about a third of a second.
  assert.ok(outcome.p99Ms > 100, `${outcome.p99Ms} ms`)
})
