import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertProblem, movableClock, startWorld } from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const organization = await world.organization('seen')

const lines = () => world.logged.map((line) => JSON.parse(line) as Record<string, unknown>)

test('[ERR-02] each request is one JSON line: route, status, time, correlation id, organization, problem', async () => {
  await organization.get(`/v1/agents/${organization.agentId}`, { correlationId: 'trace-1' })
  await organization.get('/v1/agents/agent_nobody?secret=1', { correlationId: 'trace-2' })
  await organization.get('/v1/skills', { correlationId: 'trace-3', headers: { authorization: undefined } })
  const answers = lines().filter(({ msg }) => msg === 'request')
  const about = (id: string) => answers.filter(({ correlation_id }) => correlation_id === id)
  const shown = ['trace-1', 'trace-2', 'trace-3'].map((id) => {
    const [line, ...more] = about(id)
    assert.equal(more.length, 0)
    assert.equal(typeof line?.['milliseconds'], 'number')
    return [line?.['method'], line?.['route'], line?.['status'], line?.['organization_id'], line?.['problem']]
  })
  assert.deepEqual(shown, [
    ['GET', '/v1/agents/:agent_id', 200, organization.organizationId, undefined],
    ['GET', '/v1/agents/:agent_id', 404, organization.organizationId, 'resource_not_found'],
    ['GET', '/v1/skills', 401, undefined, 'access_token_missing'],
  ])
  assert.equal(world.logged.join('').includes('agent_nobody'), false)
})

test('[ERR-02] an unexpected failure is a bare internal error for the caller and a stack trace without values in the log', async () => {
  await using broken = await startWorld()
  const caller = await broken.organization('unlucky')
  await broken.sql`alter table webhook_endpoint add constraint no_endpoints check (url = '')`
  const body = { url: 'https://agent.example/canary-value', event_types: [] }
  const answer = await caller.post('/v1/webhook-endpoints', body, { correlationId: 'broken-1' })
  assertProblem(answer, 'internal_error', {})
  assert.equal(answer.body['correlation_id'], 'broken-1')
  const failure = broken.logged.find((line) => line.includes('request failed')) ?? '{}'
  const { err, correlation_id } = JSON.parse(failure) as {
    err?: Record<string, unknown>
    correlation_id?: string
  }
  assert.deepEqual(
    [err?.['code'], err?.['constraint_name'], correlation_id],
    ['23514', 'no_endpoints', 'broken-1'],
  )
  assert.equal(broken.logged.join('').includes('canary-value'), false)
})

test('[API-08] metrics are on the operator listener only, and count requests', async () => {
  const before = await count()
  for (let index = 0; index < 3; index++) await organization.get('/v1/skills')
  assert.equal((await count()) - before, 3)
  for (const path of ['/metrics', '/healthz', '/readyz', '/operator/v1/organizations']) {
    assert.equal((await fetch(world.url + path)).status, 404, path)
  }
  for (const path of ['/healthz', '/readyz'])
    assert.equal((await fetch(world.operatorUrl + path)).status, 200)
})

test('[O-13][ERR-03] the rate limit applies per organization, states the delay, and ends after it', async () => {
  // The clock only moves when the test moves it, so a slow machine refills no tokens.
  await using small = await startWorld({
    profile: { 'O-13': { requests_per_second: 1, burst: 5 } },
    clock: movableClock(new Date().toISOString()),
  })
  const [busy, calm] = await Promise.all([small.organization('busy'), small.organization('calm')])
  const answers = await Promise.all(Array.from({ length: 8 }, () => busy.get('/v1/skills')))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 3 && refused.length <= 5, String(refused.length))
  const [first] = refused
  assert.ok(first)
  assertProblem(first, 'rate_limited')
  const wait = Number(first.headers.get('retry-after'))
  assert.deepEqual(first.body['details'], { retry_after_seconds: wait })
  assert.ok(Number.isInteger(wait) && wait >= 1)
  assert.equal((await calm.get('/v1/skills')).status, 200)
  // A refused mutation has no effect and does not use up its key.
  const endpoint = { url: 'https://agent.example/hook', event_types: [] }
  const options = { idempotencyKey: 'later' }
  assertProblem(await busy.post('/v1/webhook-endpoints', endpoint, options), 'rate_limited')
  small.clock.advance(wait)
  assert.equal((await busy.post('/v1/webhook-endpoints', endpoint, options)).status, 201)
  small.clock.advance(3_600)
  const burst = await Promise.all(Array.from({ length: 8 }, () => busy.get('/v1/skills')))
  assert.ok(burst.filter(({ status }) => status === 200).length <= 6)
})

/** The number of requests in the metrics. */
async function count(): Promise<number> {
  const text = await (await fetch(`${world.operatorUrl}/metrics`)).text()
  const line = text
    .split('\n')
    .find(
      (each) =>
        each.startsWith('aex_http_request_seconds_count') &&
        each.includes('route="/v1/skills"') &&
        each.includes('status="200"'),
    )
  return Number(line?.split(' ').at(-1) ?? 0)
}
