import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  addKey,
  assertProblem,
  assertSuccess,
  organizations,
  revokeKey,
  startWorld,
  untilBlocked,
  type Answer,
} from '@agent-exchange/testkit'
import { Problem } from '../kernel/problem.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'

const rules = { quota: 'concurrent_changes', perHolder: 2, total: 8 }

/** Work that ends on request. */
function work() {
  const ends: (() => void)[] = []
  let most = 0
  return {
    ends,
    most: () => most,
    start: () => {
      const ended = new Promise<void>((resolve) => ends.push(resolve))
      most = Math.max(most, ends.length)
      return ended
    },
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('[O-13] the changes of one organization are limited and run in order of arrival; others do not wait for them', async () => {
  const limit = createConcurrencyLimit(rules)
  const { ends, start } = work()
  const order: number[] = []
  const running = Array.from({ length: 5 }, (_, index) =>
    limit('org_a', async () => {
      order.push(index)
      await start()
    }),
  )
  await turn()
  assert.deepEqual(order, [0, 1])
  assert.equal(await limit('org_b', () => Promise.resolve('at once')), 'at once')
  for (let ended = 0; ended < 5; ended++) {
    ends[ended]?.()
    await turn()
    assert.deepEqual(order, [0, 1, 2, 3, 4].slice(0, Math.min(5, ended + 3)))
  }
  await Promise.all(running)
})

test('[O-13] at the limit of all, organizations that wait are served one after the other', async () => {
  const limit = createConcurrencyLimit({ ...rules, total: 2 })
  const { ends, start } = work()
  const order: string[] = []
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']
  const running = names.map((name) =>
    limit(name.charAt(0), async () => {
      order.push(name)
      await start()
    }),
  )
  await turn()
  assert.deepEqual(order, ['a1', 'a2'])
  for (let ended = 0; ended < names.length; ended++) {
    ends[ended]?.()
    await turn()
  }
  await Promise.all(running)
  assert.deepEqual(order, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
})

test('[O-13] an organization below its own limit that waits too long gets service_overloaded', async () => {
  const limit = createConcurrencyLimit({ ...rules, total: 2, waitMilliseconds: 5 })
  const { ends, start } = work()
  const busy = [limit('org_a', start), limit('org_a', start)]
  await assert.rejects(limit('org_b', start), { code: 'service_overloaded' })
  for (const end of ends) end()
  await Promise.all(busy)
})

test('[O-13][ERR-03] waiting time and queue length are limited; failed work releases its slot', async () => {
  const limit = createConcurrencyLimit({ ...rules, waitMilliseconds: 20 })
  const { ends, start } = work()
  const busy = [limit('org_a', start), limit('org_a', start)]
  const refused = (error: unknown) => {
    assert.ok(error instanceof Problem)
    assert.equal(error.code, 'rate_limited')
    assert.deepEqual(error.details, { quota: 'concurrent_changes', maximum: 2, retry_after_seconds: 1 })
    return true
  }
  const line = Array.from({ length: 257 }, () => limit('org_a', start))
  await assert.rejects(line.at(-1) ?? Promise.resolve(), refused)
  for (const waiting of line.slice(0, -1)) await assert.rejects(waiting, refused)
  for (const end of ends) end()
  await Promise.all(busy)
  await assert.rejects(
    limit('org_a', () => Promise.reject(new Error('fails'))),
    /fails/,
  )
  const again = Array.from({ length: 2 }, () => limit('org_a', () => Promise.resolve(1)))
  assert.deepEqual(await Promise.all(again), [1, 1])
})

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

test('[O-13] an organization whose changes all wait for the database leaves connections for the others', async () => {
  const [busy, other] = await organizations(world, 'busy', 'other')
  const keys = await Promise.all(Array.from({ length: 20 }, () => addKey(busy, 'signing')))
  const pending: Promise<Answer>[] = []
  await world.sql.begin(async (tx) => {
    // Each revocation waits for this lock with its transaction open.
    await tx`lock table agent_key_event in share mode`
    pending.push(...keys.map(({ keyId }) => revokeKey(busy, keyId, world.clock.now())))
    await untilBlocked(world, 4)
    const url = 'https://agent.example/hook'
    const signal = AbortSignal.timeout(4_000)
    const answer = await other.post('/v1/webhook-endpoints', { url, event_types: [] }, { signal })
    assertSuccess(answer, 'createWebhookEndpoint')
  })
  for (const answer of await Promise.all(pending)) assertSuccess(answer, 'revokeAgentKey')
})

test('[ID-01][O-14] a registration with too many keys is refused before the keys are parsed', async () => {
  const organization = await world.organization('many', { unregistered: true })
  const [key] = organization.registration().keys
  const keys = Array.from({ length: 300 }, (_, index) => ({ ...key, key_id: `k${index}` }))
  const answer = await organization.post('/v1/agents/register', { ...organization.registration(), keys })
  assertProblem(answer, 'validation_failed')
  const { failures } = answer.body['details'] as { failures: { pointer: string; rule: string }[] }
  assert.deepEqual([failures[0]?.pointer, failures[0]?.rule], ['/keys', 'O-14'])
})
