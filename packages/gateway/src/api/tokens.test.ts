import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '@agent-exchange/testkit'
import { reasoning, startApi } from './api.fixture.ts'

let api: Awaited<ReturnType<typeof startApi>>
before(async () => {
  api = await startApi()
  await api.policy('acme', 'bolt')
})
after(() => api[Symbol.asyncDispose]())

const ACME = '/agents/agent_acme'
const body = {
  to: 'agent_bolt',
  object_type: 'reasoning_package',
  policy_id: 'pol_free',
  content: reasoning('by token'),
}

test('a program with a token of the identity provider drafts and sends within the scopes of the token', async () => {
  const token = await api.token('aex:draft aex:send aex:agent:agent_acme', { client_id: 'erp' })
  const draft = await api.call(token, 'POST', `${ACME}/drafts`, body, { 'idempotency-key': 'd1' })
  assert.equal(draft.status, 201, JSON.stringify(draft.body))
  const path = `${ACME}/drafts/${draft.body['draft_id']}/send`
  const drafting = await api.token('aex:draft aex:agent:agent_acme', { client_id: 'erp' })
  const refused = await api.call(drafting, 'POST', path, {}, { 'idempotency-key': 's1' })
  assert.deepEqual([refused.status, refused.body['details']], [403, { verb: 'send' }])
  const sent = await api.call(token, 'POST', path, {}, { 'idempotency-key': 's1' })
  assert.deepEqual([sent.status, sent.body['state']], [200, 'sent'], JSON.stringify(sent.body))
  const [author] = await api.db`select author_kind, author_id from draft_author`
  assert.deepEqual({ ...author }, { author_kind: 'system', author_id: 'token:erp' })

  const ofBolt = await api.token('aex:draft aex:send aex:agent:agent_bolt', { client_id: 'erp' })
  const replayed = await api.call(ofBolt, 'POST', path, {}, { 'idempotency-key': 's1' })
  assert.equal(
    replayed.status,
    404,
    'the recorded answer is that of an agent which this token does not permit',
  )

  for (const [what, given] of [
    ['for models', await api.provider.token('https://gateway.example/mcp', 'aex:send aex:agent:*')],
    ['expired', await api.token('aex:send aex:agent:*', { iat: 1_000, exp: 1_300 })],
    ['ID token', await api.token('aex:send aex:agent:*', { nonce: 'n' })],
  ] as const) {
    const { status, body: problem } = await api.call(given, 'POST', path, {}, { 'idempotency-key': 's2' })
    assert.deepEqual([status, problem['code']], [401, 'access_token_invalid'], what)
    assert.ok(!JSON.stringify(problem).includes(given), what)
  }
  assert.ok(!JSON.stringify(api.logged).includes(token))
})

test('requests that their caller aborts are ended: they use up no calls, and are logged', async () => {
  const key = await api.key(['agent_bolt'], ['inbox'])
  const wait = (signal?: AbortSignal) =>
    fetch(`${api.url}/api/v1/inbox/leases`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ wait: signal ? 30 : 0 }),
      ...(signal && { signal }),
    })
  const gone = new AbortController()
  // One more than may run: the others wait, and only the one that is refused is answered.
  const waiting = Array.from({ length: 65 }, () => wait(gone.signal))
  assert.equal((await Promise.race(waiting)).status, 429)
  gone.abort()
  await Promise.allSettled(waiting)
  await until('calls are free again', async () => (await wait()).status === 200)
  assert.ok(api.logged.some((line) => line.includes('"status":499')))
})
