import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  organizations,
  sendPackage,
  startReceiver,
  startWorld,
  until,
  type Organization,
} from '@agent-exchange/testkit'
import { MAXIMUM_IN_FLIGHT } from './webhook-limits.ts'

const ENDPOINTS = 20
const SLOW_MS = 9_000
const PROMPT_MS = 100
/** The largest window needs 14 answers; slots must be filled while the first slow requests still wait. */
const WIDENING_ANSWERS = 16
const PACKAGES = 60
const LONGEST_MS = 4_000
const PATIENCE = { limitMs: 60_000, pollMs: 20 }
/** The number of waiting requests grows no more. */
const STEADY_POLLS = 50

test('four organizations whose receivers answer slowly leave delivery slots for another one', async (t) => {
  await using cleanup = new AsyncDisposableStack()
  const receiver = cleanup.use(await startReceiver())
  const webhook = { ca: receiver.authority.certificate, allowPrivate: true }
  const world = cleanup.use(await startWorld())
  const register = async (owner: Organization, path: string) => {
    const answer = await owner.post('/v1/webhook-endpoints', { url: receiver.url + path, event_types: [] })
    assert.equal(answer.status, 201, answer.text)
  }
  const [sender, other] = await organizations(world, 'sender', 'other')
  const slow = await Promise.all(['a', 'b', 'c', 'd'].map((name) => world.organization(name)))
  await register(other, '/other')
  for (const owner of slow) for (let i = 0; i < ENDPOINTS; i++) await register(owner, `/slow/${i}`)

  let [answered, waiting, forOther] = [0, 0, 0]
  let delayMs = PROMPT_MS
  receiver.reply = ({ path }, response) => {
    if (path.endsWith('/other')) {
      forOther += 1
      return 204
    }
    waiting += 1
    setTimeout(() => {
      waiting -= 1
      answered += 1
      response.writeHead(204).end()
    }, delayMs)
    return undefined
  }
  await sendPackage(sender, other)
  for (let i = 0; i < PACKAGES; i++) await Promise.all(slow.map((owner) => sendPackage(sender, owner)))
  // The worker finds a backlog. Receivers that answer promptly get the largest window.
  cleanup.use(await startWorld({ beside: world, config: { role: 'worker', webhook } }))
  await until('answered promptly', () => answered > WIDENING_ANSWERS * slow.length * ENDPOINTS, PATIENCE)
  delayMs = SLOW_MS
  let [most, unchanged] = [0, 0]
  await until(
    'all waiting',
    () => {
      unchanged = waiting > most ? 0 : unchanged + 1
      most = Math.max(most, waiting)
      return most > MAXIMUM_IN_FLIGHT / 2 && unchanged > STEADY_POLLS
    },
    PATIENCE,
  )

  const startedAt = performance.now()
  await sendPackage(sender, other)
  await until('delivered to the other one', () => forOther === 2, PATIENCE)
  const took = Math.round(performance.now() - startedAt)
  t.diagnostic(
    `${most} requests waited for slow receivers; the delivery of another organization took ${took} ms`,
  )
  assert.ok(most < MAXIMUM_IN_FLIGHT, `${most} in flight`)
  assert.ok(took < LONGEST_MS, `${took} ms`)
})
