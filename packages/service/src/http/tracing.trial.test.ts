import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { canonicalBytes } from '@agent-exchange/crypto'
import { exampleObjects } from '@agent-exchange/protocol'
import {
  attributesOf,
  draftPackage,
  sendPackage,
  startCollector,
  startReceiver,
  startWorld,
  submit,
  type ExportedSpan,
  type RequestOptions,
} from '@agent-exchange/testkit'
import type { TracingConfig } from '@agent-exchange/server/settings'

const collector = await startCollector()
const tracing: TracingConfig = {
  url: `${collector.url}/v1/traces`,
  protocol: 'http/json',
  serviceName: 'exchange under test',
  sampler: { isParentBased: true, ratio: 1 },
}
const receiver = await startReceiver()
const webhook = { ca: receiver.authority.certificate, allowPrivate: true }
const world = await startWorld({ config: { tracing, webhook } })
/** Shares only the database with the world that takes the requests. */
const worker = await startWorld({ beside: world, config: { tracing, webhook, role: 'worker' } })
after(async () => {
  await worker[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})
const [sender, owner] = await Promise.all([world.organization('sender'), world.organization('owner')])
const hook = await owner.post('/v1/webhook-endpoints', {
  url: `${receiver.url}/canary-hook-path`,
  event_types: [],
})
assert.equal(hook.status, 201)

const [SERVER, CLIENT] = [2, 3]

/** The ids of a caller's own span. */
function callerSpan(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { traceId, spanId, header: `00-${traceId}-${spanId}-${flags}` }
}

const inTrace = (traceId: string) => (span: ExportedSpan) => span.traceId === traceId

async function sendTraced(header: string, options: RequestOptions = {}) {
  const draft = await draftPackage(sender, owner)
  return submit(sender, draft, { ...options, headers: { ...options.headers, traceparent: header } })
}

test('a trace leads from the request through its batch to the webhook delivery of another process', async () => {
  const caller = callerSpan()
  assert.equal((await sendTraced(caller.header)).status, 202)
  const arrived = await collector.until((all) => all.filter(inTrace(caller.traceId)).length >= 3)
  const spans = arrived.filter(inTrace(caller.traceId))
  const request = spans.find(({ name }) => name === 'POST /v1/packages')
  const batch = spans.find(({ name }) => name === 'batch packages')
  const delivery = spans.find(({ name }) => name === 'webhook delivery')
  assert.ok(request && batch && delivery, spans.map(({ name }) => name).join())
  assert.deepEqual([request.parentSpanId, request.kind], [caller.spanId, SERVER])
  assert.equal(batch.parentSpanId, request.spanId)
  assert.deepEqual([delivery.parentSpanId, delivery.kind], [request.spanId, CLIENT])
  assert.deepEqual(
    batch.links?.map(({ spanId }) => spanId),
    [request.spanId],
  )
  assert.deepEqual(
    request.links?.map(({ spanId }) => spanId),
    [batch.spanId],
  )
  assert.deepEqual(attributesOf(request), {
    'http.request.method': 'POST',
    'http.route': '/v1/packages',
    'http.response.status_code': 202,
  })
  assert.deepEqual(attributesOf(batch), { 'aex.queue': 'packages', 'aex.batch.size': 1 })
  assert.deepEqual(attributesOf(delivery), {
    'aex.delivery.attempt': 1,
    'aex.delivery.outcome': 'delivered',
    'http.response.status_code': 204,
  })
  // Two processes exported them, each under the name of the service.
  const names = collector
    .requests()
    .flatMap(({ resourceSpans }) => resourceSpans)
    .map(({ resource }) => attributesOf(resource)['service.name'])
  assert.deepEqual([...new Set(names)], ['exchange under test'])
  // The log line of the request names the trace.
  const line = world.logged.find((each) => each.includes(caller.traceId))
  assert.equal((JSON.parse(line ?? '{}') as { trace_id?: string }).trace_id, caller.traceId)
})

test('requests that share a batch keep their own traces, and the batch links to each of them', async () => {
  const drafts = await Promise.all(Array.from({ length: 12 }, () => draftPackage(sender, owner)))
  const callers = drafts.map(() => callerSpan())
  await Promise.all(
    drafts.map((draft, index) =>
      submit(sender, draft, { headers: { traceparent: callers[index]?.header ?? '' } }),
    ),
  )
  const ids = new Set(callers.map(({ traceId }) => traceId))
  const named = (spans: readonly ExportedSpan[], wanted: string) =>
    spans.filter(({ name, traceId }) => name === wanted && ids.has(traceId))
  const sizeOf = (batches: readonly ExportedSpan[]) =>
    batches.reduce((sum, batch) => sum + Number(attributesOf(batch)['aex.batch.size']), 0)
  // Two processes export at their own times.
  const spans = await collector.until(
    (all) =>
      new Set(named(all, 'webhook delivery').map(({ traceId }) => traceId)).size === 12 &&
      named(all, 'POST /v1/packages').length === 12 &&
      sizeOf(named(all, 'batch packages')) >= 12,
  )
  const requests = named(spans, 'POST /v1/packages')
  const batches = named(spans, 'batch packages')
  assert.equal(sizeOf(batches), 12)
  const linked = batches.flatMap(({ links = [] }) => links.map(({ spanId }) => spanId))
  assert.deepEqual(linked.toSorted(), requests.map(({ spanId }) => spanId).toSorted())
  for (const { traceId, parentSpanId } of spans.filter(({ name }) => name === 'webhook delivery')) {
    const request = requests.find(inTrace(traceId))
    if (request) assert.equal(parentSpanId, request.spanId)
  }
})

test('[ERR-02] a header that is no trace context begins a new trace and changes no answer', async () => {
  const { traceId, spanId } = callerSpan()
  const invalid = [
    'canary-traceparent',
    `00-${traceId}-${spanId}`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-canary`,
    `00-${'AB'.repeat(16)}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `${'0'.repeat(4_000)}-${traceId}-${spanId}-01`,
  ]
  const count = () => collector.spans().filter(({ name }) => name === 'GET /v1/skills').length
  const before = count()
  for (const traceparent of invalid)
    assert.equal((await sender.get('/v1/skills', { headers: { traceparent } })).status, 200, traceparent)
  await collector.until(() => count() === before + invalid.length)
  assert.equal(collector.spans().filter(inTrace(traceId)).length, 0)
})

test('a caller that does not sample is not traced, and its notification has no trace context', async () => {
  const caller = callerSpan('00')
  const marker = callerSpan()
  const draft = await draftPackage(sender, owner)
  await submit(sender, draft, { headers: { traceparent: caller.header } })
  await sendTraced(marker.header)
  await collector.until((spans) => spans.some(inTrace(marker.traceId)))
  assert.equal(collector.spans().filter(inTrace(caller.traceId)).length, 0)
  const stored = await world.sql<{ traceparent: string | null }[]>`
    select traceparent from notification where package_id = ${draft.metadata.package_id}`
  assert.ok(stored.length > 0)
  assert.ok(stored.every(({ traceparent }) => traceparent === null))
})

test('[ERR-02][PKG-14] no content, token, key, id, header or URL of a caller reaches the collector', async () => {
  const token = await sender.token()
  const plaintext = canonicalBytes({ ...exampleObjects.reasoning_package, intent: 'canary-plaintext' })
  const caller = callerSpan()
  const headers = {
    traceparent: caller.header,
    tracestate: 'vendor=canary-tracestate',
    baggage: 'user=canary-baggage',
    'user-agent': 'canary-agent',
    'x-other': 'canary-header',
  }
  const options = { headers, correlationId: 'canary-correlation', idempotencyKey: 'canary-idempotency' }
  const draft = await draftPackage(sender, owner, { plaintext, threadId: 'thread_canary-thread' })
  assert.equal((await submit(sender, draft, options)).status, 202)
  await sender.get('/v1/agents/canary-path?x=canary-query', options)
  await sender.get('/v1/canary-unknown', options)
  await sender.get('/v1/skills', {
    ...options,
    headers: { ...headers, authorization: 'Bearer canary-token' },
  })
  await sender.post('/v1/packages', { ...draft.body, signature: 'canary-signature' }, options)
  await sender.post('/v1/webhook-endpoints', { url: 'canary-url', event_types: 'canary' }, options)
  receiver.reply = (_, response) =>
    void response.writeHead(500, { 'x-canary': 'canary-answer' }).end('canary-body')
  await sendPackage(sender, owner)
  const spans = await collector.until(
    (all) =>
      all.filter(inTrace(caller.traceId)).length >= 8 &&
      all.some((span) => attributesOf(span)['http.response.status_code'] === 500),
  )
  receiver.reply = () => 204
  const problems = spans.filter(inTrace(caller.traceId)).map((span) => attributesOf(span)['error.type'])
  assert.ok(
    problems.includes('resource_not_found') && problems.includes('access_token_invalid'),
    problems.join(),
  )
  const received = collector.received()
  const secrets = [
    'canary',
    token,
    sender.organizationId,
    owner.organizationId,
    sender.agentId,
    draft.metadata.package_id,
    sender.clientId,
    receiver.url,
    `:${receiver.port}`,
    sender.signing.pair.privateJwk.d,
  ]
  for (const secret of secrets) assert.equal(received.includes(secret), false, secret)
  // Control: the same search finds what must be there.
  assert.ok(received.includes(caller.traceId) && received.includes('/v1/agents/:agent_id'))
  assert.ok(receiver.received.every((request) => !('traceparent' in request.headers)))
})
