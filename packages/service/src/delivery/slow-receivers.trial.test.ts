import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendPackage, startReceiver, startWorld, type Organization } from '@agent-exchange/testkit'
import { MAXIMUM_IN_FLIGHT, MAXIMUM_IN_FLIGHT_PER_ENDPOINT } from './webhook-limits.ts'

const ENDPOINTS = 20
const SLOW_MS = 9_000
const PROMPT_MS = 4_000
const POLL_MS = 20
const PATIENCE_MS = 60_000
/** The number of waiting requests grows no more. */
const STEADY_POLLS = 50

async function until(isReached: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !isReached(); waited += POLL_MS) {
    assert.ok(waited < PATIENCE_MS, `not ${what} in time`)
    await sleep(POLL_MS)
  }
}

test('four organizations whose receivers answer slowly leave delivery slots for another one', async (t) => {
  await using cleanup = new AsyncDisposableStack()
  const receiver = cleanup.use(await startReceiver())
  const webhook = { ca: receiver.authority.certificate, allowPrivate: true }
  const world = cleanup.use(await startWorld({ config: { role: 'all', webhook } }))
  const register = async (owner: Organization, path: string) => {
    const answer = await owner.post('/v1/webhook-endpoints', { url: receiver.url + path, event_types: [] })
    assert.equal(answer.status, 201, answer.text)
  }
  const [sender, other] = [await world.organization('sender'), await world.organization('other')]
  const slow = await Promise.all(['a', 'b', 'c', 'd'].map((name) => world.organization(name)))
  await register(other, '/other')
  for (const owner of slow) for (let i = 0; i < ENDPOINTS; i++) await register(owner, `/slow/${i}`)

  const isForOther = (path: string) => path.endsWith('/other')
  let [answered, waiting, forOther] = [0, 0, 0]
  receiver.reply = ({ path }) => {
    if (isForOther(path)) forOther += 1
    else answered += 1
    return 204
  }
  // Prompt receivers get the largest window.
  for (let round = 1; round <= MAXIMUM_IN_FLIGHT_PER_ENDPOINT; round++) {
    for (const owner of [...slow, other]) await sendPackage(sender, owner)
    await until(() => answered === round * slow.length * ENDPOINTS && forOther === round, 'all delivered')
  }
  receiver.reply = ({ path }, response) => {
    if (isForOther(path)) {
      forOther += 1
      return 204
    }
    waiting += 1
    setTimeout(() => {
      waiting -= 1
      response.writeHead(204).end()
    }, SLOW_MS)
    return undefined
  }
  for (let i = 0; i <= MAXIMUM_IN_FLIGHT_PER_ENDPOINT; i++)
    for (const owner of slow) await sendPackage(sender, owner)
  let [most, unchanged] = [0, 0]
  await until(() => {
    unchanged = waiting > most ? 0 : unchanged + 1
    most = Math.max(most, waiting)
    return most > MAXIMUM_IN_FLIGHT / 2 && unchanged > STEADY_POLLS
  }, 'all waiting')

  const before = forOther
  const startedAt = performance.now()
  await sendPackage(sender, other)
  await until(() => forOther > before, 'delivered to the other one')
  const took = Math.round(performance.now() - startedAt)
  t.diagnostic(
    `${most} requests waited for slow receivers; the delivery of another organization took ${took} ms`,
  )
  assert.ok(most < MAXIMUM_IN_FLIGHT, `${most} in flight`)
  assert.ok(took < PROMPT_MS, `${took} ms`)
})
