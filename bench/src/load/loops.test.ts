import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openAll, type Outgoing } from './connection.ts'
import { closedLoop, openLoop, type Sender } from './loops.ts'
import { steadySchedule } from './schedule.ts'

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

test('a closed loop sends complete requests and reads complete responses, however they are fragmented', async () => {
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

test('an unexpected status ends the run and is reported', async () => {
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

/** Runs an open loop in virtual time, with senders that take as long as given. */
async function runOpenLoop(
  schedule: readonly number[],
  { senders, answerMs, rampMs = 0 }: { senders: number; answerMs: number; rampMs?: number },
) {
  let now = 0
  const waiting: { readonly at: number; readonly wake: () => void }[] = []
  const sleep = (milliseconds: number) =>
    new Promise<void>((wake) => waiting.push({ at: now + milliseconds, wake }))
  const sent: { readonly due: number; readonly at: number }[] = []
  const due: number[] = []
  const sender: Sender = {
    async send() {
      sent.push({ due: due[sent.length] ?? Number.NaN, at: now })
      await sleep(answerMs)
      return 204
    },
    lastAnswer: () => '',
  }
  let isOver = false
  const run = openLoop(
    Array.from({ length: senders }, () => sender),
    () => post('a'),
    { rampMs, measureMs: 100 - rampMs, status: 204, schedule },
    { onSend: (_, at) => void due.push(at), time: { now: () => now, sleep } },
  ).finally(() => (isOver = true))
  for (; !isOver && now < 1_000; now++) {
    for (const { at, wake } of waiting) if (at === now) wake()
    await new Promise(setImmediate)
  }
  return { outcome: await run, sent }
}

test('an open loop sends at the times of its schedule, independent of responses', async () => {
  const { outcome, sent } = await runOpenLoop([0, 5, 5, 40, 99, 100, 200], { senders: 3, answerMs: 50 })
  assert.deepEqual(
    sent.map(({ at }) => at),
    [0, 5, 5, 50, 99],
    'the fourth waits for a free connection; nothing is sent after the end',
  )
  assert.equal(outcome.requests, 5)
})

test('an open loop measures latency from the due time, including the wait for a connection', async () => {
  const { outcome, sent } = await runOpenLoop([0, 10, 20, 30], { senders: 1, answerMs: 20 })
  assert.deepEqual(sent, [
    { due: 0, at: 0 },
    { due: 10, at: 20 },
    { due: 20, at: 40 },
    { due: 30, at: 60 },
  ])
  assert.deepEqual([outcome.p50Ms, outcome.p99Ms], [30, 50])
})

test('requests of the ramp-up are sent and not counted', async () => {
  const { outcome } = await runOpenLoop([0, 10, 60, 70], { senders: 4, answerMs: 5, rampMs: 50 })
  assert.equal(outcome.requests, 4)
  assert.equal(outcome.perSecond, 2 / 0.05)
})

test('an open loop ends with the first unexpected status, or when requests run out', async () => {
  await using server = await startServer((request, response) => {
    request.resume()
    response.writeHead(503, { 'content-length': 4 }).end('busy')
  })
  const span = () => ({ rampMs: 0, measureMs: 60_000, status: 202, schedule: steadySchedule(500) })
  const connections = await openAll(server, 2)
  await assert.rejects(
    openLoop(connections, () => post('a'), span()),
    /answered 503 instead of 202: [^]*busy/,
  )
  await assert.rejects(
    openLoop(connections, () => undefined, span()),
    /too few requests/,
  )
  connections.forEach((connection) => connection.close())
})
