import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { ExchangeError } from '../errors.ts'
import { changed } from '../meddling-proxy.fixture.ts'
import type { Connection } from './connection.ts'
import { createConnection } from './create-connection.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import {
  code,
  isKeys,
  KEYS,
  problem,
  startProxiedAgent,
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

test('[API-04] a lost answer, a drop and an overload are survived with one effect: same key, same bytes', async () => {
  const { proxy } = proxied
  const connection = connect()
  let tries = 0
  proxy.before = ({ path }) => {
    if (path !== '/v1/webhook-endpoints') return undefined
    tries += 1
    if (tries === 1) return 'drop'
    if (tries === 2) return problem(503, 'service_overloaded', true, { 'retry-after': '0' })
    return undefined
  }
  proxy.after = ({ path }, reply) => (path === '/v1/webhook-endpoints' && tries === 3 ? 'drop' : reply)
  const body = { url: 'https://agent.example/hook', event_types: [] }
  const made = await connection.call('createWebhookEndpoint', { body })
  const sent = proxy.passed.filter(({ path }) => path === '/v1/webhook-endpoints')
  assert.equal(sent.length, 4)
  assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1)
  assert.equal(new Set(sent.map(({ body: bytes }) => bytes)).size, 1)
  const [{ count } = { count: -1 }] = await proxied.world.sql<{ count: number }[]>`
    select count(*)::int as count from webhook_endpoint where organization_id = ${proxied.agent.identity.organizationId}`
  assert.equal(count, 1)
  assert.equal(made.url, body.url)
})

test('bytes that were stored for a retry go out as they are, under the key and id they were given', async () => {
  const { proxy } = proxied
  const bodyText = '{ "event_types": [],\n "url": "https://agent.example/exact" }'
  await connect().call('createWebhookEndpoint', {
    bodyText,
    idempotencyKey: 'idem_a',
    correlationId: 'corr_a',
  })
  const sent = proxy.passed.find(({ path }) => path === '/v1/webhook-endpoints')
  assert.equal(sent?.body, bodyText)
  assert.equal(sent.headers['idempotency-key'], 'idem_a')
  assert.equal(sent.headers['x-correlation-id'], 'corr_a')
})

test('Retry-After is waited for, never shortened, and left to the caller where it is too long', async () => {
  const { proxy } = proxied
  const connection = connect()
  await connection.token()
  let asked = 0
  proxy.before = (request) => {
    if (!isKeys(request)) return undefined
    asked += 1
    return asked === 1 ? problem(429, 'rate_limited', true, { 'retry-after': '1' }) : undefined
  }
  const start = performance.now()
  await read(connection)
  assert.ok(performance.now() - start >= 1_000)

  proxy.before = (request) =>
    isKeys(request) ? problem(503, 'service_overloaded', true, { 'retry-after': '3600' }) : undefined
  proxy.passed.length = 0
  await assert.rejects(read(connection), (error) => {
    code('exchange_refused', true)(error)
    return (error as ExchangeError).details['retryAfterSeconds'] === 3_600
  })
  assert.equal(proxy.count(KEYS), 1)
})

test('a refusal that says it is final is not tried again; an endless failure ends', async () => {
  const { proxy } = proxied
  const connection = connect({ attempts: 3 })
  await assert.rejects(
    connection.call('getPackage', { path: { package_id: 'pkg_none' } }),
    (error) => code('exchange_refused', false)(error) && /resource_not_found/.test((error as Error).message),
  )
  assert.equal(proxy.count('/v1/packages/pkg_none'), 1)
  proxy.before = (request) => (isKeys(request) ? 'drop' : undefined)
  await assert.rejects(read(connection), code('exchange_unreachable', true))
  assert.equal(proxy.count(KEYS), 3)
  proxy.before = (request) =>
    isKeys(request) ? { status: 502, headers: {}, body: 'bad gateway' } : undefined
  await assert.rejects(read(connection), code('exchange_unreachable', true))
  proxy.before = (request) => (isKeys(request) ? problem(500, 'internal_error', true) : undefined)
  await assert.rejects(read(connection), code('exchange_refused', true))
  assert.equal(proxy.count(KEYS), 9)
})

test('waits end: a server that hangs times out, and a caller may give up in any state', async () => {
  const { proxy } = proxied
  const connection = connect({ timeoutMs: 1_000, attempts: 2 })
  await connection.token()
  proxy.before = (request) => (isKeys(request) ? 'hang' : undefined)
  await assert.rejects(read(connection), code('timed_out', true))
  assert.equal(proxy.count(KEYS), 2)

  const patient = connect({ firstBackoffMs: 60_000, maximumBackoffMs: 60_000 })
  await patient.token()
  const whileAsking = new AbortController()
  proxy.before = (request) => {
    if (!isKeys(request)) return undefined
    whileAsking.abort()
    return 'hang'
  }
  await assert.rejects(read(patient, whileAsking.signal), code('aborted', false))
  const whilePausing = new AbortController()
  proxy.before = (request) => {
    if (!isKeys(request)) return undefined
    setTimeout(() => whilePausing.abort(), 50)
    return 'drop'
  }
  await assert.rejects(read(patient, whilePausing.signal), code('aborted'))
  await assert.rejects(read(patient, AbortSignal.abort()), code('aborted'))
})

test('answers are bounded, strict and of the protocol; unknown members pass', async () => {
  const { proxy } = proxied
  const connection = connect({ answerBytes: 20_000 })
  const cases: [string, (body: string) => { body: string; status?: number; type?: string }][] = [
    ['oversized', () => ({ body: JSON.stringify({ filler: 'x'.repeat(30_000) }) })],
    ['not JSON', () => ({ body: '{' })],
    ['a member twice', (body) => ({ body: body.replace('{', '{"agent_id":"agent_x",') })],
    ['a member missing', (body) => ({ body: body.replace('directory_version', 'version') })],
    ['HTML', () => ({ body: '<html></html>', type: 'text/html' })],
    ['another success', (body) => ({ body, status: 202 })],
    ['a problem that is none', () => ({ body: '{}', status: 400, type: 'application/problem+json' })],
    ['a redirect', () => ({ body: '', status: 307 })],
  ]
  for (const [name, change] of cases) {
    proxy.after = (request, reply) => {
      if (!isKeys(request)) return reply
      const { body, status = reply.status, type = 'application/json' } = change(String(reply.body))
      return { status, headers: { 'content-type': type, location: '/v1/skills' }, body }
    }
    proxy.passed.length = 0
    await assert.rejects(read(connection), code('exchange_answer_unreadable', false), name)
    assert.equal(proxy.count(KEYS), 1, name)
    assert.equal(proxy.count('/v1/skills'), 0, name)
  }
  proxy.after = (request, reply) =>
    isKeys(request) ? changed(reply, (body) => ({ ...body, added_later: true })) : reply
  await read(connection)
})

test('the token goes nowhere but to the exchange', async () => {
  const { proxy } = proxied
  const connection = connect()
  await connection.token()
  proxy.passed.length = 0
  const elsewhere = [
    proxy.url.replace('127.0.0.1', 'localhost'),
    proxied.world.url,
    'https://evil.example',
    'not a url',
  ]
  for (const address of elsewhere) {
    await assert.rejects(
      connection.download(`${address}/content/pkg_1`, { maximumBytes: 10 }),
      code('exchange_answer_unreadable', false),
    )
  }
  assert.equal(proxy.passed.length, 0)
})

test('content comes byte for byte, within its limit; what is gone says so', async () => {
  const { proxy } = proxied
  const connection = connect()
  const url = `${proxy.url}/content/pkg_1`
  proxy.before = ({ path }) =>
    path === '/content/pkg_1' ? { status: 200, headers: JSON_TYPE, body: '{"a": 1 }' } : undefined
  const bytes = await connection.download(url, { maximumBytes: 9 })
  assert.equal(new TextDecoder().decode(bytes), '{"a": 1 }')
  await assert.rejects(connection.download(url, { maximumBytes: 8 }), code('content_too_large', false))
  proxy.before = ({ path }) =>
    path === '/content/pkg_1' ? problem(410, 'package_revoked', false) : undefined
  await assert.rejects(connection.download(url, { maximumBytes: 8 }), (error) => {
    code('content_unavailable', false)(error)
    return (error as ExchangeError).problem?.code === 'package_revoked'
  })
})

test('an id from outside cannot lead a call to another address', async () => {
  const connection = connect()
  for (const package_id of ['..', '.', '', '\ud800']) {
    await assert.rejects(connection.call('getPackage', { path: { package_id } }), code('input_invalid'))
  }
  await assert.rejects(connection.call('getPackage'), code('input_invalid'))
  assert.equal(proxied.proxy.passed.length, 0)
  await assert.rejects(
    connection.call('getPackage', { path: { package_id: '../../v1/skills?x=#/' } }),
    code('exchange_refused'),
  )
  assert.equal(proxied.proxy.count('/v1/skills'), 0)
})

test('addresses: https, or http on this machine, and nothing else in them', () => {
  const make = (baseUrl: string) =>
    createConnection({ baseUrl, clientId: 'c', authentication: { method: 'mutual_tls' } })
  for (const baseUrl of [
    'http://exchange.example',
    'http://127.0.0.1.example',
    'ftp://127.0.0.1',
    'https://user:secret@exchange.example',
    'https://exchange.example/?a=1',
    'https://exchange.example/#a',
    'exchange.example',
    '',
  ]) {
    assert.throws(() => make(baseUrl), code('input_invalid'), baseUrl)
  }
  for (const baseUrl of ['https://exchange.example/', 'http://localhost:8080', 'http://[::1]:1/']) {
    assert.equal(make(baseUrl).baseUrl, baseUrl.replace(/\/$/, ''))
  }
})
