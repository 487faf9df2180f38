import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { assertProblem, assertSuccess, freshId, organizations, startWorld } from '@agent-exchange/testkit'
import { createBuckets } from './rate-limit.ts'
import { createRefusalDelay } from './refusal-delay.ts'

function movedClock() {
  let now = 0
  return {
    clock: { now: () => '2026-03-02T08:00:00.000Z', monotonicMilliseconds: () => now },
    pass: (milliseconds: number) => void (now += milliseconds),
  }
}

test('[O-13] what a request costs beyond one is owed, at most a burst', () => {
  const { clock, pass } = movedClock()
  const buckets = createBuckets({ rate: 10, burst: 20, clock })
  buckets.charge('org_a', 15)
  const taken = Array.from({ length: 10 }, () => buckets.tryTake('org_a')).filter((wait) => wait === 0)
  assert.equal(taken.length, 5)
  buckets.charge('org_a', 1_000)
  assert.throws(() => buckets.take('org_a'), { details: { retry_after_seconds: 3 } })
  pass(2_100)
  buckets.take('org_a')
  buckets.take('org_b')
})

test('[O-13] a large body and a large answer cost more of the rate than small ones', async () => {
  await using world = await startWorld({
    profile: { 'O-13': { requests_per_second: 1, burst: 100, bytes_per_request: 1_024 } },
  })
  const [large, small] = await organizations(world, 'large', 'small')
  const body = { ...large.registration(), agent_id: freshId('agent'), padding: 'x'.repeat(120_000) }
  assertProblem(await large.post('/v1/agents/register', body), 'validation_failed')
  assertProblem(await large.get(`/v1/agents/${large.agentId}`), 'rate_limited')
  assertSuccess(await small.get(`/v1/agents/${small.agentId}`), 'getAgent')
})

test('[O-13][AUTH-01] refused tokens of an address are answered late beyond a rate; valid tokens are not', async () => {
  const { clock } = movedClock()
  const delayMs = 30
  const delay = createRefusalDelay(DEFAULT_PROFILE, clock, delayMs)
  const burst = DEFAULT_PROFILE['O-13'].refused_tokens_per_second * 10
  const order: string[] = []
  // The timers of the delay do not keep a process alive.
  const awake = setInterval(() => undefined, delayMs)
  const at = async (address: string, name: string) => {
    assert.equal(await delay(address), true)
    order.push(name)
  }
  await Promise.all(Array.from({ length: burst }, () => delay('192.0.2.1')))
  await Promise.all([at('192.0.2.1', 'late'), at('192.0.2.2', 'at once')])
  clearInterval(awake)
  assert.deepEqual(order, ['at once', 'late'])

  await using world = await startWorld({ profile: { 'O-13': { refused_tokens_per_second: 1 } } })
  const acme = await world.organization('acme')
  const path = `/v1/agents/${acme.agentId}`
  const headers = { authorization: 'Bearer none' }
  for (let refused = 0; refused < 10; refused++)
    assertProblem(await acme.get(path, { headers }), 'access_token_invalid')
  const answers: string[] = []
  await Promise.all([
    acme.get(path, { headers }).then(({ status }) => answers.push(`refused ${status}`)),
    acme.get(path).then(({ status }) => answers.push(`valid ${status}`)),
  ])
  assert.deepEqual(answers, ['valid 200', 'refused 401'])
})
