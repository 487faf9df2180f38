import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { reasoning, startApi } from './api.fixture.ts'

let api: Awaited<ReturnType<typeof startApi>>
before(async () => {
  api = await startApi()
  await api.policy('acme', 'bolt')
  await api.policy('bolt', 'acme')
  await api.policy('colleague', 'bolt')
})
after(() => api[Symbol.asyncDispose]())

const COLLEAGUE = '/agents/agent_colleague'
let keys = 0
const once = () => ({ 'idempotency-key': `key-${(keys += 1)}` })

async function sent(key: string, from: string, to: string, threadId?: string) {
  const drafted = await api.call(
    key,
    'POST',
    `/agents/${from}/drafts`,
    {
      to,
      object_type: 'reasoning_package',
      policy_id: 'pol_free',
      content: reasoning(`from ${from}`),
      ...(threadId !== undefined && { thread_id: threadId }),
    },
    once(),
  )
  const path = `/agents/${from}/drafts/${drafted.body['draft_id']}/send`
  const { status, body } = await api.call(key, 'POST', path, {}, once())
  assert.equal(status, 200, JSON.stringify([drafted.body, body]))
  return { packageId: String(body['package_id']), threadId: String(body['thread_id']) }
}

test('a key of one agent reads, revokes and answers nothing of another agent of the same organization', async () => {
  const all = await api.key()
  const own = await api.key(['agent_colleague'])
  const out = await sent(all, 'agent_acme', 'agent_bolt')
  const incoming = await sent(all, 'agent_bolt', 'agent_acme')
  const answer = { responds_to: incoming.packageId, policy_id: 'pol_free', content: ANSWER }
  for (const [method, path, body] of [
    ['GET', `${COLLEAGUE}/threads/${out.threadId}`],
    ['GET', `${COLLEAGUE}/threads/${incoming.threadId}`],
    ['GET', `${COLLEAGUE}/capsule?package_id=${out.packageId}`],
    ['GET', `${COLLEAGUE}/capsule?thread_id=${out.threadId}`],
    ['GET', `${COLLEAGUE}/packages/${out.packageId}?verdict=true`],
    ['POST', `${COLLEAGUE}/packages/${out.packageId}/revoke`, { reason: 'superseded' }],
    ['POST', `${COLLEAGUE}/drafts`, answer],
  ] as const) {
    const found = await api.call(own, method, path, body, method === 'POST' ? once() : {})
    assert.deepEqual([found.status, found.body['code']], [404, 'resource_not_found'], path)
    const unknown = path.replace(/\b(pkg|thread)_[0-9a-f][\w-]+/u, '$1_00000000-0000-4000-8000-000000000000')
    if (unknown === path) continue
    const same = await api.call(own, method, unknown, body, method === 'POST' ? once() : {})
    assert.deepEqual({ ...same.body, correlation_id: '' }, { ...found.body, correlation_id: '' }, unknown)
  }
  const { body } = await api.call(all, 'GET', `/agents/agent_acme/threads/${out.threadId}`)
  assert.notEqual(body['packages'][0].state, 'revoked')
})

const ANSWER = { response_actions: ['agree'], response_summary: 'In the place of a colleague.' }

test('in a thread of two agents of one organization, each sees its own packages and their evidence', async () => {
  const all = await api.key()
  const own = await api.key(['agent_colleague'])
  const first = await sent(all, 'agent_acme', 'agent_bolt')
  const second = await sent(own, 'agent_colleague', 'agent_bolt', first.threadId)
  const thread = await api.call(own, 'GET', `${COLLEAGUE}/threads/${first.threadId}`)
  assert.deepEqual(
    thread.body['packages'].map((each: { package_id: string }) => each.package_id),
    [second.packageId],
  )
  const capsule = await api.call(own, 'GET', `${COLLEAGUE}/capsule?thread_id=${first.threadId}`)
  assert.equal(capsule.status, 200, JSON.stringify(capsule.body))
  assert.ok(JSON.stringify(capsule.body).includes(second.packageId))
  assert.ok(!JSON.stringify(capsule.body).includes(first.packageId))
})
