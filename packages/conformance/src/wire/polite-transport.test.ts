import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { refused } from '../run/expect.ts'
import { NotJudged } from '../run/finding.ts'
import { httpTransport } from './http-transport.ts'
import { politeTransport } from './polite-transport.ts'
import { toAnswer, type WireAnswer } from './wire.ts'

const request = { method: 'GET', url: 'https://exchange.example/v1/notifications', headers: {} }
const answerOf = (status: number, headers: Record<string, string> = {}): WireAnswer => ({
  status,
  headers,
  text: '',
  bytes: new Uint8Array(),
})

/** A clock that moves only by waiting. */
function politely(answers: WireAnswer[], requestsPerSecond = 1_000) {
  let time = Date.parse('2026-11-18T12:00:00Z')
  const waits: number[] = []
  const starts: number[] = []
  const send = politeTransport(
    () => {
      starts.push(time)
      return Promise.resolve(answers.shift() ?? answerOf(200))
    },
    {
      requestsPerSecond,
      now: () => time,
      wait: (milliseconds) => {
        waits.push(milliseconds)
        time += milliseconds
        return Promise.resolve()
      },
    },
  )
  return { send, waits, starts }
}

test('a request that is limited is repeated after Retry-After, in seconds or as a date', async () => {
  const date = { 'retry-after': 'Wed, 18 Nov 2026 12:00:05 GMT' }
  const { send, waits } = politely([answerOf(429, { 'retry-after': '2' }), answerOf(503, date)])
  assert.equal((await send(request)).status, 200)
  assert.deepEqual(waits, [2_000, 3_000])
})

test('a wait is bounded, and so is the number of repetitions', async () => {
  const always = Array.from({ length: 9 }, () => answerOf(429, { 'retry-after': '86400' }))
  const { send, waits, starts } = politely(always)
  const answer = toAnswer(request, await send(request))
  assert.deepEqual([answer.status, starts.length, Math.max(...waits)], [429, 4, 30_000])
  assert.throws(() => refused(answer, 'an invalid request'), NotJudged)
  const failing = politely([answerOf(503)])
  assert.deepEqual([(await failing.send(request)).status, failing.waits], [503, []])
})

test('requests start no faster than the pace', async () => {
  const { send, starts } = politely([], 10)
  for (let count = 0; count < 4; count++) await send(request)
  assert.deepEqual(
    starts.map((start) => start - (starts[0] ?? 0)),
    [0, 100, 200, 300],
  )
})

test('[ID-10] an answer keeps its bytes, and the request names the kit', async () => {
  const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28])
  let agent: string | undefined
  const server = createServer(({ headers }, response) => {
    agent = headers['user-agent']
    response.end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    using send = httpTransport({ timeoutMs: 5_000, concurrency: 1 })
    const answer = await send({ ...request, url: `http://127.0.0.1:${port}/artifact` })
    assert.deepEqual(Buffer.from(answer.bytes), bytes)
    assert.equal(agent, 'aex-conformance')
  } finally {
    server.close()
  }
})
