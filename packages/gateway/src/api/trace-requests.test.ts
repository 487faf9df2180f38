import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@agent-exchange/server/clock'
import { createRequestSpans, openTracer, type RequestSpan } from '@agent-exchange/server/tracing'
import { startCollector } from '@agent-exchange/testkit'
import Fastify from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { readGatewayConfig } from '../config/read-config.ts'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import { testContents } from '../content/contents.fixture.ts'
import { openLeaseWaiters } from '../inbox/lease-waiters.ts'
import { openApi } from './open-api.ts'
import { traceRequests } from './trace-requests.ts'

const PARENT = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`

test('requests of systems are spans of the trace of their caller, by route and problem, without ids', async () => {
  await using collector = await startCollector()
  const { tracing: config } = readGatewayConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  })
  assert.ok(config)
  assert.equal(config.serviceName, 'agent-exchange-gateway')
  await using database = await gatewayDatabase()
  const log = pino({ level: 'silent' })
  await using tracer = await openTracer(config, { log, metrics: new Registry() })
  const contents = testContents(database.db)
  await using api = await openApi({
    db: database.db,
    box: testBox(),
    agents: { list: () => [], find: () => undefined },
    contents,
    leases: await openLeaseWaiters({ db: database.db, contents }),
    clock: systemClock,
    publicUrl: 'http://gateway.example',
    log,
    tracing: createRequestSpans(tracer.tracer),
  })
  const url = '/api/v1/agents/agent_acme/packages/pkg_canary'
  const answer = await api.app.inject({ url, headers: { traceparent: PARENT } })
  assert.equal(answer.statusCode, 401)
  const [span] = await collector.until((spans) => spans.length > 0)
  assert.equal(span?.traceId, 'ab'.repeat(16))
  assert.equal(span.name, 'GET /api/v1/agents/:agent_id/packages/:package_id')
  assert.deepEqual(span.attributes.find(({ key }) => key === 'error.type')?.value, {
    stringValue: 'access_token_missing',
  })
  assert.ok(!collector.received().includes('pkg_canary'))
})

test('the span of a request that its caller aborts ends', async () => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<number>()
  await using app = Fastify()
  traceRequests(app, {
    startRequest: () => ({}) as RequestSpan,
    endRequest: (_span, status) => ended.resolve(status),
    startWork: () => ({ end: () => undefined }),
  })
  app.get('/', async () => {
    begun.resolve()
    await ended.promise
    return {}
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const gone = new AbortController()
  const request = fetch(url, { signal: gone.signal }).catch(() => undefined)
  await begun.promise
  gone.abort()
  await request
  assert.equal(await ended.promise, 499)
})
