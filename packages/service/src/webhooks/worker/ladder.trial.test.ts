import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { RETRY_DELAYS_SECONDS } from '@agent-exchange/protocol'
import { type ReceivedWebhook, deliveryWorld } from '@agent-exchange/testkit'
import { JITTER_SHARE, MAXIMUM_JITTER_SECONDS } from './webhook-limits.ts'
import { TICK_MS } from './webhook-limits.ts'

/** How late an attempt may be, in addition to its jitter, on a busy machine. */
const SLACK_SECONDS = 3
/** Long enough for a worker to check twice. */
const QUIET_MS = 2.5 * TICK_MS

const made = await deliveryWorld()
after(() => made[Symbol.asyncDispose]())
const { world, receiver } = made
const { clock } = world

/** Arrival time of each request, by the service's clock. */
const arrivals: { at: number; webhook: ReceivedWebhook }[] = []
let answerWith: (webhook: ReceivedWebhook) => { status: number; retryAfter?: string } = () => ({
  status: 500,
})
receiver.reply = (webhook, response) => {
  arrivals.push({ at: Date.parse(clock.now()), webhook })
  const { status, retryAfter } = answerWith(webhook)
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
}

async function settled(attempt: number) {
  const [delivery] = await made.until(
    ([first]) => first !== undefined && first.attempts.length === attempt,
    `attempt ${attempt}`,
  )
  assert.ok(delivery)
  return delivery
}

async function startOne(): Promise<string> {
  arrivals.length = 0
  await world.sql`delete from delivery`
  const endpointId = await made.endpoint()
  await made.event()
  return endpointId
}

async function close(endpointId: string): Promise<void> {
  await world.operate('POST', `/endpoints/${endpointId}/delete`, { reason: 'done' })
}

test('[EVT-07][EVT-08] the complete retry schedule: seven attempts, none early, none late, then a dead letter and an alert', async () => {
  answerWith = () => ({ status: 500 })
  const endpointId = await startOne()
  for (const [index, delay] of RETRY_DELAYS_SECONDS.entries()) {
    const attempt = index + 1
    const delivery = await settled(attempt)
    assert.deepEqual([delivery.state, delivery.attempt], ['pending', attempt])
    const failedAt = arrivals[index]?.at ?? Number.NaN
    // One second before the minimum delay no request is sent.
    clock.advance((failedAt + delay * 1_000 - 1_000 - Date.parse(clock.now())) / 1_000)
    await sleep(QUIET_MS)
    assert.equal(arrivals.length, attempt, `attempt ${attempt + 1} came early`)
    // No request until the recorded due time, then one immediately.
    const due = delivery.next_attempt_at.getTime()
    const jitter = Math.min(delay * JITTER_SHARE, MAXIMUM_JITTER_SECONDS)
    const wait = (due - failedAt) / 1_000
    assert.ok(
      wait >= delay && wait <= delay + jitter + SLACK_SECONDS,
      `${wait} s before attempt ${attempt + 1}`,
    )
    clock.set(new Date(due).toISOString())
    const next = await settled(attempt + 1)
    const lateBy = ((arrivals[attempt]?.at ?? Number.NaN) - due) / 1_000
    assert.ok(lateBy >= 0 && lateBy <= SLACK_SECONDS, `attempt ${attempt + 1} was ${lateBy} s late`)
    assert.ok((arrivals[attempt]?.at ?? 0) - failedAt >= delay * 1_000)
    assert.equal(next.attempts[index]?.outcome, 'retry')
    assert.equal(next.attempts[index]?.details['next_attempt_at'], new Date(due).toISOString())
  }
  const [dead] = await made.deliveries()
  assert.deepEqual([dead?.state, dead?.attempt, dead?.attempts.at(-1)?.outcome], ['dead', 7, 'dead'])
  const alerts = await world.sql`
    select kind, delivery_id, webhook_endpoint_id, reason from alert order by alert_id`
  const [failing, ...others] = alerts.map((alert) => ({ ...alert }))
  assert.equal(failing?.['kind'], 'endpoint_failing')
  assert.deepEqual(others, [
    {
      kind: 'delivery_dead',
      delivery_id: dead?.delivery_id,
      webhook_endpoint_id: endpointId,
      reason: 'attempt 7 failed: status 500',
    },
  ])
  clock.advance(7 * 86_400)
  await sleep(QUIET_MS)
  assert.equal(arrivals.length, 7, 'nothing comes after a dead letter')

  // The same delivery, event and bytes, with a new signature for each attempt.
  const webhooks = arrivals.map(({ webhook }) => webhook)
  assert.deepEqual(
    webhooks.map(({ attempt }) => attempt),
    [1, 2, 3, 4, 5, 6, 7],
  )
  assert.equal(
    new Set(webhooks.map(({ deliveryId, eventId, body }) => `${deliveryId} ${eventId} ${body.toString()}`))
      .size,
    1,
  )
  assert.equal(new Set(webhooks.map(({ headers }) => headers['signature'])).size, 7)
  assert.equal(new Set(webhooks.map(({ headers }) => headers['signature-input'])).size, 7)
  await close(endpointId)
})

const WAITS: readonly (readonly [string, () => string, number])[] = [
  ['later than the backoff, in seconds', () => '300', 300],
  ['later than the backoff, as a date', () => new Date(Date.parse(clock.now()) + 600_000).toUTCString(), 600],
  ['earlier than the backoff', () => '5', 30],
  ['beyond the cap', () => '999999', 86_400],
]
for (const [name, retryAfter, expected] of WAITS) {
  test(`[EVT-08] Retry-After ${name}: the next attempt is after ${expected} s`, async () => {
    answerWith = ({ attempt }) =>
      attempt === 1 ? { status: 429, retryAfter: retryAfter() } : { status: 204 }
    const endpointId = await startOne()
    const { next_attempt_at: at } = await settled(1)
    const wait = (at.getTime() - (arrivals[0]?.at ?? 0)) / 1_000
    // An HTTP date has a resolution of one second.
    assert.ok(wait >= expected - 1 && wait <= expected * (1 + JITTER_SHARE) + SLACK_SECONDS, String(wait))
    clock.set(new Date(at.getTime() - 1_000).toISOString())
    await sleep(QUIET_MS)
    assert.equal(arrivals.length, 1)
    clock.set(at.toISOString())
    assert.equal((await settled(2)).state, 'delivered')
    await close(endpointId)
  })
}
