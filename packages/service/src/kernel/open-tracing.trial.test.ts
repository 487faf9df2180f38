import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePorts, sendPackage, startCollector, startWorld } from '@agent-exchange/testkit'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { TracingConfig } from '@agent-exchange/server/settings'
import { openTracing } from './open-tracing.ts'

const configFor = (url: string, changes: Partial<TracingConfig> = {}): TracingConfig => ({
  url: `${url}/v1/traces`,
  protocol: 'http/json',
  serviceName: 'test',
  sampler: { isParentBased: true, ratio: 1 },
  ...changes,
})

function tools() {
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  return { log, metrics: new Registry(), warnings }
}

const PARENT = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`

test('spans wait in a bounded queue while the collector hangs; further ones are dropped', async () => {
  await using collector = await startCollector()
  collector.isHanging = true
  const { log, metrics } = tools()
  const tracing = await openTracing(configFor(collector.url), { log, metrics })
  const spans = 20_000
  for (let index = 0; index < spans; index++)
    tracing.endRequest(tracing.startRequest('GET', '/v1/skills', undefined), 200, undefined)
  await collector.until((all) => all.length > 0)
  collector.answerHeld()
  await tracing[Symbol.asyncDispose]()
  const received = collector.spans().length
  // The queue and the export under way.
  assert.ok(received >= 2_048 && received <= 2_048 + 512, String(received))
})

test('a collector that hangs delays neither requests nor the stop', async () => {
  await using collector = await startCollector()
  collector.isHanging = true
  const world = await startWorld({ config: { tracing: configFor(collector.url) } })
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  for (let index = 0; index < 5; index++) await sendPackage(from, to)
  await collector.until((spans) => spans.length > 0)
  await sendPackage(from, to)
  const stopping = performance.now()
  await world[Symbol.asyncDispose]()
  // The spans get two seconds, and the timeout of an export is ten.
  assert.ok(performance.now() - stopping < 8_000)
  collector.answerHeld()
})

test('a collector that is away delays the stop by two seconds at most, and gets the spans if it comes back soon', async () => {
  const [port] = await freePorts(1)
  const tracing = await openTracing(configFor(`http://127.0.0.1:${port}`), tools())
  tracing.endRequest(tracing.startRequest('GET', '/v1/skills', undefined), 200, undefined)
  const stopping = performance.now()
  await tracing[Symbol.asyncDispose]()
  assert.ok(performance.now() - stopping < 5_000)
  await using collector = await startCollector(port)
  await collector.until((spans) => spans.length === 1)
})

test('refused spans are counted, and reported once without the text of the collector', async () => {
  await using collector = await startCollector()
  collector.status = 400
  const { log, metrics, warnings } = tools()
  const tracing = await openTracing(configFor(collector.url), { log, metrics })
  const spans = 1_000
  for (let index = 0; index < spans; index++)
    tracing.endRequest(tracing.startRequest('GET', '/v1/skills', undefined), 200, undefined)
  await tracing[Symbol.asyncDispose]()
  assert.ok(collector.headers.length >= 2, 'several exports')
  const text = await metrics.metrics()
  assert.match(text, /^aex_trace_spans_total\{result="failed"\} 1000$/mu)
  assert.equal(warnings.length, 1)
  assert.equal(warnings.join('').includes('canary'), false)
})

test('the sampler decides: never, always, or as the parent says', async () => {
  const { log } = tools()
  const traced = async (sampler: TracingConfig['sampler'], traceparent?: string) => {
    const tracing = await openTracing(configFor('http://127.0.0.1:1', { sampler }), {
      log,
      metrics: new Registry(),
    })
    return tracing.startRequest('GET', '/', traceparent).traceparent !== undefined
  }
  const unsampled = PARENT.replace(/01$/u, '00')
  assert.equal(await traced({ isParentBased: false, ratio: 0 }, PARENT), false)
  assert.equal(await traced({ isParentBased: false, ratio: 1 }, unsampled), true)
  assert.equal(await traced({ isParentBased: true, ratio: 0 }, PARENT), true)
  assert.equal(await traced({ isParentBased: true, ratio: 0 }), false)
  assert.equal(await traced({ isParentBased: true, ratio: 1 }, unsampled), false)
  assert.equal(await traced({ isParentBased: true, ratio: 1 }), true)
})

test('http/protobuf is the binary form of the same spans', async () => {
  await using collector = await startCollector()
  const config = configFor(collector.url, { protocol: 'http/protobuf', serviceName: 'binary name' })
  const tracing = await openTracing(config, tools())
  tracing.endRequest(tracing.startRequest('GET', '/v1/skills', PARENT), 200, undefined)
  await tracing[Symbol.asyncDispose]()
  assert.equal(collector.headers[0]?.['content-type'], 'application/x-protobuf')
  assert.match(collector.received(), /binary name[^]*GET \/v1\/skills/u)
})
