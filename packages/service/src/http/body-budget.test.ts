import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import { organizations, startWorld, type Organization } from '@agent-exchange/testkit'
import { createBodyBudget } from './body-budget.ts'

const REQUEST_BYTES = 524_288
/** Two bodies of maximum size. */
const TOTAL_BYTES = 1_048_576
/** Two organizations with this leave room for small bodies only. */
const HELD_BYTES = 475_000
const LARGE_BYTES = 150_000
const BYTEWISE_BYTES = 10_000
const MAXIMUM_CHUNKS = 16_384
const STALL_SECONDS = 2
const world = await startWorld({
  profile: {
    'O-14': {
      request_bytes: REQUEST_BYTES,
      request_bytes_in_flight: TOTAL_BYTES,
      body_stall_seconds: STALL_SECONDS,
      body_chunks: MAXIMUM_CHUNKS,
    },
  },
})
const sockets: Socket[] = []
after(async () => {
  for (const socket of sockets) socket.destroy()
  await world[Symbol.asyncDispose]()
})
const BODY = JSON.stringify({ url: 'https://agent.example/hook', event_types: [] })
const OVERLOADED = /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*"service_overloaded"/i

/** Sends the headers of a request and then the given part of its body. */
async function begin(by: Organization, framing: string, part = '') {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  const lines = [
    'POST /v1/webhook-endpoints HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${await by.token()}`,
    'X-Correlation-ID: one',
    `Idempotency-Key: ${Math.random()}`,
    'Content-Type: application/json',
    framing,
  ]
  const answered = Promise.withResolvers<string>()
  let answer = ''
  socket.on('error', () => undefined).on('close', () => answered.resolve(answer))
  socket.on('data', (text) => {
    answer += String(text)
    if (answer.includes('\r\n\r\n')) answered.resolve(answer)
  })
  await new Promise((sent) => socket.write(`${lines.join('\r\n')}\r\n\r\n${part}`, sent))
  return { socket, answer: answered.promise }
}

const announced = (bytes: number) => `Content-Length: ${bytes}`
const post = (by: Organization, bytes = 0) =>
  by.post('/v1/webhook-endpoints', undefined, { raw: BODY.padEnd(bytes) })
const suspend = ({ organizationId }: Organization) =>
  world.operate('POST', `/organizations/${organizationId}/suspend`, { reason: 'It floods us.' })

test('[O-14][ERR-01] bodies that are announced and never sent take no room, from nobody', async () => {
  const [greedy, other] = await organizations(world, 'announces', 'other')
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      begin(greedy, index % 2 === 0 ? announced(REQUEST_BYTES) : 'Transfer-Encoding: chunked'),
    ),
  )
  // Several times, because it is not known when the exchange has read the announcements.
  for (let round = 0; round < 4; round++) {
    assert.equal((await post(greedy)).status, 201)
    assert.equal((await post(other)).status, 201)
  }
  assert.equal((await suspend(greedy)).status, 200)
})

/** Sends most of two bodies that do not fit together, and lets the accepted one trickle until it is stopped. */
async function hold(by: Organization) {
  const part = 'x'.repeat(HELD_BYTES)
  const begun = await Promise.all([
    begin(by, announced(REQUEST_BYTES), part),
    begin(by, announced(REQUEST_BYTES), part),
  ])
  const { index, answer } = await Promise.race(
    begun.map(async (one, at) => ({ index: at, answer: await one.answer })),
  )
  assert.match(answer, OVERLOADED)
  const held = begun[1 - index]
  assert.ok(held)
  const trickle = setInterval(() => held.socket.write('x'), 50).unref()
  return { ...held, stop: () => clearInterval(trickle) }
}

test('[O-14][ERR-01] an organization has an eighth of the total or one body, the operator has a budget of its own, and a stalled body is refused', async () => {
  const [first, second, third] = await organizations(world, 'first', 'second', 'third')
  const ofFirst = await hold(first)
  const ofSecond = await hold(second)
  // What is left is enough for a small body of anybody.
  assert.equal((await post(first)).status, 201)
  assert.equal((await post(third)).status, 201)
  const full = await post(third, LARGE_BYTES)
  assert.deepEqual(
    [full.status, full.body['code'], full.headers.get('retry-after')],
    [503, 'service_overloaded', '1'],
  )
  assert.equal((await suspend(second)).status, 200)

  // The refusal of a stalled body releases its memory.
  ofSecond.stop()
  const stalled = await ofSecond.answer
  assert.match(stalled, /^HTTP\/1\.1 408 [^]*"request_timeout"/)
  assert.match(stalled, /^connection: close/imu)
  assert.equal((await post(third, LARGE_BYTES)).status, 201)
  ofFirst.stop()
})

test('[O-14][O-20] a body in chunks of one byte is read, up to the number of chunks in the profile', async () => {
  const sender = await world.organization('bytewise')
  const send = async (bytes: number) => {
    const { socket, answer } = await begin(sender, 'Transfer-Encoding: chunked')
    const chunks = BODY.padEnd(bytes).replaceAll(/[^]/gu, '1\r\n$&\r\n')
    socket.write(`${chunks}0\r\n\r\n`)
    return answer
  }
  assert.match(await send(BYTEWISE_BYTES), /^HTTP\/1\.1 201 /)
  const refused = await send(MAXIMUM_CHUNKS + 1)
  assert.match(refused, /^HTTP\/1\.1 400 [^]*"too_many_chunks"/)
  assert.match(refused, new RegExp(`"maximum_chunks":${MAXIMUM_CHUNKS}\\D`, 'u'))
})

test('[O-14] bytes count as they arrive, for their holder and in total, and released memory can be used again', () => {
  const overloaded = { code: 'service_overloaded' }
  const budget = createBodyBudget({ total: 1_000, perHolder: 500 })
  const [one, two] = [budget.open('org_a'), budget.open('org_a')]
  one.add(400)
  two.add(100)
  assert.throws(() => two.add(1), overloaded)
  assert.throws(() => budget.open('org_a'), overloaded)
  const other = budget.open('org_b')
  other.add(500)
  assert.throws(() => budget.open('org_c'), overloaded)
  one.release()
  // A second release changes nothing.
  one.release()
  budget.open('org_c').add(400)
  assert.throws(() => budget.open('org_d'), overloaded)
})

test('[O-14] a total below two bodies of maximum size is refused as a contradiction', () => {
  const created = createProfile({ 'O-14': { request_bytes: 1_048_576, request_bytes_in_flight: 2_097_151 } })
  assert.ok(!created.ok)
  assert.equal(created.failures[0]?.pointer, '/O-14/request_bytes_in_flight')
})
