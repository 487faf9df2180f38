import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProfile } from '@agent-exchange/protocol'
import { startWorld, type Organization } from '@agent-exchange/testkit'
import { createBodyBudget } from './body-budget.ts'

const REQUEST_BYTES = 524_288
const world = await startWorld({
  profile: { 'O-14': { request_bytes: REQUEST_BYTES, request_bytes_in_flight: 4 * REQUEST_BYTES } },
})
after(() => world[Symbol.asyncDispose]())
const BODY = JSON.stringify({ url: 'https://agent.example/hook', event_types: [] })

/** Sends the headers of a request and its body on demand. */
async function begin(by: Organization, framing: string) {
  const socket: Socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (part) => (answer += String(part)))
  const lines = [
    'POST /v1/webhook-endpoints HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${await by.token()}`,
    'X-Correlation-ID: one',
    `Idempotency-Key: ${Math.random()}`,
    'Content-Type: application/json',
    framing,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const answered = async () => {
    for (let tries = 0; tries < 2_000 && !socket.destroyed; tries++) {
      if (answer.includes('\r\n\r\n')) break
      await sleep(10)
    }
    return answer
  }
  return { socket, answered }
}

const largest = `Content-Length: ${REQUEST_BYTES}`
const small = (by: Organization) => by.post('/v1/webhook-endpoints', JSON.parse(BODY))

/** Sends one body more than an organization may hold: whichever is read last is refused. */
async function fill(by: Organization) {
  const begun = await Promise.all([begin(by, largest), begin(by, largest), begin(by, largest)])
  const refused = await Promise.race(begun.map(async (one) => ({ one, answer: await one.answered() })))
  refused.one.socket.destroy()
  return { held: begun.filter((one) => one !== refused.one), answer: refused.answer }
}

/** A disconnect is noticed a moment later. */
async function smallOnceThereIsRoom(by: Organization) {
  for (let tries = 0; ; tries++) {
    const answer = await small(by)
    if (answer.status !== 503 || tries === 500) return answer
    await sleep(20)
  }
}

test('[ERR-01] the bodies in memory have a total limit; beyond it a body is refused unread, and other organizations still have room', async () => {
  const [greedy, other, third] = [
    await world.organization('greedy'),
    await world.organization('other'),
    await world.organization('third'),
  ]
  // Announced and never sent. One organization may hold half of the total, which is two bodies.
  const ofGreedy = await fill(greedy)
  assert.match(ofGreedy.answer, /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*"service_overloaded"/i)
  const chunked = await begin(greedy, 'Transfer-Encoding: chunked')
  assert.match(await chunked.answered(), /^HTTP\/1\.1 503 /)
  chunked.socket.destroy()
  assert.equal((await small(other)).status, 201)

  const ofOther = await fill(other)
  const full = await small(third)
  assert.deepEqual(
    [full.status, full.body['code'], full.headers.get('retry-after')],
    [503, 'service_overloaded', '1'],
  )

  // A response and a disconnect both release the memory.
  const [first, ...rest] = [...ofGreedy.held, ...ofOther.held]
  first?.socket.write(BODY.padEnd(REQUEST_BYTES))
  assert.match((await first?.answered()) ?? '', /^HTTP\/1\.1 201 /)
  for (const each of rest) each.socket.destroy()
  for (const each of [greedy, other, third]) assert.equal((await smallOnceThereIsRoom(each)).status, 201)
  first?.socket.destroy()
})

test('a single body is accepted whatever its size, and released memory can be reserved again', () => {
  const created = createProfile({ 'O-14': { request_bytes: 524_288, request_bytes_in_flight: 1_048_576 } })
  assert.ok(created.ok)
  const budget = createBodyBudget(created.profile)
  const release = budget('operator', 50_000_000)
  assert.throws(() => budget('org_a', 1), { code: 'service_overloaded' })
  release()
  const own = budget('org_a', 524_288)
  assert.throws(() => budget('org_a', 1), { code: 'service_overloaded' })
  budget('org_b', 524_288)
  assert.throws(() => budget('org_c', 1), { code: 'service_overloaded' })
  own()
  budget('org_c', 524_288)
})

test('[O-14] a total below two bodies of maximum size is refused as a contradiction', () => {
  const created = createProfile({ 'O-14': { request_bytes: 1_048_576, request_bytes_in_flight: 2_097_151 } })
  assert.ok(!created.ok)
  assert.equal(created.failures[0]?.pointer, '/O-14/request_bytes_in_flight')
})
