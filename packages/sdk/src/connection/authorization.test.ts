import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startAgent } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { changed } from '../meddling-proxy.fixture.ts'
import type { Connection } from './connection.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import {
  code,
  isKeys,
  KEYS,
  problem,
  startProxiedAgent,
  QUICK,
  TOKEN,
  type ProxiedAgent,
} from '../proxied-agent.fixture.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
let proxied: ProxiedAgent
before(async () => {
  proxied = await startProxiedAgent()
})
after(() => proxied[Symbol.asyncDispose]())
beforeEach(() => proxied.reset())
const connect = (limits: Partial<ConnectionLimits> = {}) => proxied.connect(limits)
const read = (connection: Connection, signal?: AbortSignal) => proxied.read(connection, signal)

test('[AUTH-02] discovery, a signed assertion and one token serve many calls at once', async () => {
  const { proxy } = proxied
  const connection = connect()
  const answers = await Promise.all(Array.from({ length: 12 }, () => read(connection)))
  assert.equal(new Set(answers.map(({ agent_id }) => agent_id)).size, 1)
  assert.equal(proxy.count(TOKEN), 1)
  assert.deepEqual(
    proxy.passed.slice(0, 3).map(({ path }) => path),
    ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server', TOKEN],
  )
  const form = new URLSearchParams(proxy.passed[2]?.body)
  assert.equal(form.get('resource'), proxy.url)
  const [header = '', claims = ''] = (form.get('client_assertion') ?? '').split('.')
  assert.deepEqual(JSON.parse(atob(header)), { alg: 'ES256' })
  const { aud, jti, exp, iat } = JSON.parse(atob(claims)) as Record<string, unknown>
  assert.equal(aud, proxy.url)
  assert.match(String(jti), /^jti_[0-9a-f]{32}$/)
  assert.equal(Number(exp) - Number(iat), 60)
})

test('[AUTH-02] an identity provider with OpenID Connect discovery only is found', async () => {
  const { proxy } = proxied
  const missing = { status: 404, headers: JSON_TYPE, body: '{}' }
  proxy.before = ({ path }) => (path === '/.well-known/oauth-authorization-server' ? missing : undefined)
  await read(connect())
  assert.equal(proxy.count('/.well-known/openid-configuration'), 1)
})

test('[AUTH-02] with a wrong clock and an issuer that sends no date, the time of the exchange counts', async () => {
  const { agent, proxy } = proxied
  proxy.after = ({ path }, reply) =>
    path === '/.well-known/oauth-authorization-server'
      ? { ...reply, headers: { ...reply.headers, date: 'none' } }
      : reply
  for (const seconds of [-240, 240]) {
    const now = () => new Date(Date.now() + seconds * 1_000)
    await read(createContext({ ...agent.options, now }).connection)
  }
})

test('a token is renewed before it expires, once for all who wait, and follows a clock that moved', async () => {
  const { proxy, world } = proxied
  const connection = connect()
  const first = await connection.token()
  world.clock.advance(150)
  assert.equal(await connection.token(), first)
  world.clock.advance(100)
  const renewed = await Promise.all(Array.from({ length: 8 }, () => connection.token()))
  assert.equal(new Set(renewed).size, 1)
  assert.notEqual(renewed[0], first)
  // One more than the two tokens: the jump made the first assertion look old, so discovery was asked again.
  assert.equal(proxy.count(TOKEN), 3)
})

test('while renewal fails for a while, a token that is still good goes on', async () => {
  const { proxy, world } = proxied
  const connection = connect()
  const first = await connection.token()
  world.clock.advance(250)
  proxy.before = ({ path }) => (path === TOKEN ? { status: 503, headers: {}, body: '' } : undefined)
  assert.equal(await connection.token(), first)
  world.clock.advance(60)
  await assert.rejects(connection.token(), code('exchange_unreachable', true))
})

test('a token that the exchange no longer takes is replaced once', async () => {
  const { proxy } = proxied
  const connection = connect()
  await read(connection)
  let refused = 0
  proxy.before = (request) => {
    if (!isKeys(request) || refused > 0) return undefined
    refused += 1
    return problem(401, 'access_token_invalid', false)
  }
  await read(connection)
  assert.equal(proxy.count(TOKEN), 2)
  assert.equal(proxy.count(KEYS), 3)
  const tokens = new Set(proxy.passed.filter(isKeys).map(({ headers }) => headers.authorization))
  assert.equal(tokens.size, 2)

  proxy.before = (request) => (isKeys(request) ? problem(401, 'access_token_invalid', false) : undefined)
  proxy.passed.length = 0
  await assert.rejects(read(connection), (error) => {
    code('exchange_refused', false)(error)
    return (error as ExchangeError).problem?.code === 'access_token_invalid'
  })
  assert.equal(proxy.count(KEYS), 2)
})

test('[AUTH-03] a suspended organization and a disabled client are named, by the token endpoint and by the API', async () => {
  const { world } = proxied
  const agent = await startAgent(world, 'suspended', { baseUrl: proxied.proxy.url, limits: { attempts: 1 } })
  const { organizationId } = agent.identity
  const known = createContext(agent.options).connection
  const path = { agent_id: agent.identity.agentId }
  await known.call('getAgent', { path })
  await world.operate('POST', `/organizations/${organizationId}/suspend`, { reason: 'unpaid' })
  await assert.rejects(known.call('getAgent', { path }), (error) => {
    assert.equal((error as ExchangeError).problem?.code, 'caller_suspended')
    return code('caller_suspended', false)(error)
  })
  const fresh = () => createContext(agent.options).connection.token()
  await assert.rejects(fresh(), (error) => {
    assert.match((error as Error).message, /^The organization is suspended\. .*`aex org activate`/u)
    return code('caller_suspended', false)(error)
  })
  await world.operate('POST', `/organizations/${organizationId}/activate`, {})
  await fresh()
  await world.operate('POST', `/clients/${agent.clientId}/disable`, { reason: 'lost' })
  await assert.rejects(fresh(), (error) => {
    assert.match((error as Error).message, /^The client is disabled\./u)
    return code('caller_suspended', false)(error)
  })
})

test('one who gives up does not take the token from the others', async () => {
  const { proxy } = proxied
  const connection = connect()
  const controller = new AbortController()
  proxy.before = ({ path }) => {
    if (path === TOKEN) controller.abort()
    return undefined
  }
  const [impatient, patient] = await Promise.allSettled([
    read(connection, controller.signal),
    read(connection),
  ])
  assert.equal(impatient.status, 'rejected')
  assert.equal(patient.status, 'fulfilled')
  assert.equal(proxy.count(TOKEN), 1)
})

test('discovery that leads astray is refused before anything secret is sent', async () => {
  const { proxy } = proxied
  const misled: [RegExp, Record<string, unknown>][] = [
    [/protected-resource/, { resource: 'https://other.example' }],
    [/protected-resource/, { authorization_servers: [] }],
    [/protected-resource/, { authorization_servers: ['http://evil.example'] }],
    [/authorization-server/, { issuer: 'https://other.example' }],
    [/authorization-server/, { token_endpoint: 'http://evil.example/token' }],
  ]
  for (const [path, members] of misled) {
    proxy.passed.length = 0
    proxy.after = (request, reply) =>
      path.test(request.path) ? changed(reply, (body) => ({ ...body, ...members })) : reply
    await assert.rejects(connect().token(), (error) => {
      assert.ok(error instanceof ExchangeError)
      return ['discovery_failed', 'input_invalid', 'token_refused'].includes(error.code)
    })
    assert.equal(proxy.count(TOKEN), 0)
  }
})

test('a refused client says so, and no error contains the token or the assertion', async () => {
  const { proxy } = proxied
  const stranger = createContext({
    ...proxied.agent.options,
    clientId: 'client_nobody',
    limits: QUICK,
  }).connection
  await assert.rejects(stranger.token(), (error) => {
    code('token_refused', false)(error)
    return (error as ExchangeError).details['reason'] === 'invalid_client'
  })
  const secret = 'SECRET-TOKEN'
  proxy.before = ({ path }) =>
    path === TOKEN
      ? { status: 200, headers: JSON_TYPE, body: JSON.stringify({ access_token: secret, token_type: 7 }) }
      : undefined
  const error: unknown = await connect()
    .token()
    .catch((thrown: unknown) => thrown)
  code('token_refused', false)(error)
  assert.doesNotMatch(everythingIn(error), /SECRET-TOKEN/)
})

function everythingIn(error: unknown): string {
  const seen: string[] = []
  for (let each = error; each instanceof Error; each = each.cause) {
    seen.push(String(each.stack), JSON.stringify(each), JSON.stringify(each.cause))
  }
  return seen.join('\n')
}
