import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  attributesOf,
  callOperator,
  createOrganization,
  draftPackage,
  freePorts,
  runningClock,
  startCollector,
  startReceiver,
  submit,
  testDatabase,
  type World,
} from '@agent-exchange/testkit'
import { serveProcess } from '../serve-process.fixture.ts'

const PACKAGES = 20
const folder = mkdtempSync(join(tmpdir(), 'aex-telemetry-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The values of the samples that match. */
async function read(operatorUrl: string, sample: RegExp): Promise<number[]> {
  const lines = (await (await fetch(`${operatorUrl}/metrics`)).text()).split('\n')
  return lines.filter((line) => sample.test(line)).map((line) => Number(line.split(' ').at(-1)))
}

test('two API processes and a worker: metrics are merged, and a trace leads from one process to another', async () => {
  await using cleanup = new AsyncDisposableStack()
  const collector = cleanup.use(await startCollector())
  const receiver = cleanup.use(await startReceiver())
  const database = cleanup.use(await testDatabase())
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, receiver.authority.certificate)
  const [port, operatorPort, workerPort, workerOperatorPort] = await freePorts(4)
  const shared = {
    DATABASE_URL: database.url,
    AEX_MASTER_KEY: randomBytes(32).toString('hex'),
    AEX_HOST: '127.0.0.1',
    AEX_WEBHOOK_CA: ca,
    AEX_WEBHOOK_ALLOW_PRIVATE: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=secret-of-the-collector',
    OTEL_SERVICE_NAME: 'exchange-trial',
  }
  const data = join(folder, 'api')
  const api = cleanup.use(
    await serveProcess({
      ...shared,
      AEX_DATA_DIR: data,
      AEX_ROLE: 'api',
      AEX_WORKERS: '2',
      AEX_PORT: String(port),
      AEX_OPERATOR_PORT: String(operatorPort),
      OTEL_RESOURCE_ATTRIBUTES: 'part=api',
    }),
  )
  const worker = cleanup.use(
    await serveProcess({
      ...shared,
      AEX_DATA_DIR: join(folder, 'worker'),
      AEX_ROLE: 'worker',
      AEX_WORKERS: '1',
      AEX_PORT: String(workerPort),
      AEX_OPERATOR_PORT: String(workerOperatorPort),
      OTEL_RESOURCE_ATTRIBUTES: 'part=worker',
    }),
  )
  const operatorUrl = `http://127.0.0.1:${operatorPort}`
  const token = readFileSync(join(data, 'operator-token'), 'utf8').trim()
  const world = {
    url: `http://127.0.0.1:${port}`,
    clock: runningClock(),
    operate: (method: string, path: string, body?: object) =>
      callOperator(operatorUrl, token, method, path, body),
  } as World
  const [sender, owner] = await Promise.all([
    createOrganization(world, 'sender', {}),
    createOrganization(world, 'owner', {}),
  ])
  const hook = await owner.post('/v1/webhook-endpoints', { url: receiver.url, event_types: [] })
  assert.equal(hook.status, 201, hook.text)

  const traceIds = new Set<string>()
  await Promise.all(
    Array.from({ length: PACKAGES }, async () => {
      const traceId = randomBytes(16).toString('hex')
      traceIds.add(traceId)
      const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
      assert.equal((await submit(sender, await draftPackage(sender, owner), { headers })).status, 202)
    }),
  )

  const accepted = /^aex_package_states_total\{state="accepted",mode="native"\}/u
  const delivered = /^aex_deliveries_total\{result="delivered"\}/u
  const workerUrl = `http://127.0.0.1:${workerOperatorPort}`
  for (let tries = 0; (await read(workerUrl, delivered))[0] !== PACKAGES; tries++) {
    assert.ok(tries < 400, 'not delivered in time')
    await sleep(50)
  }
  // Whichever of the two processes answers.
  for (let tries = 0; tries < 4; tries++) {
    assert.deepEqual(await read(operatorUrl, accepted), [PACKAGES])
    assert.deepEqual(await read(operatorUrl, /^aex_batch_size_sum\{queue="packages"\}/u), [PACKAGES])
    assert.deepEqual(await read(operatorUrl, /^aex_package_acceptance_seconds_count/u), [PACKAGES])
    const pools = await read(operatorUrl, /^aex_database_waiting\{pool="transactions",worker="[12]"\}/u)
    assert.deepEqual(pools, [0, 0])
  }

  /** The part of the exchange that exported each span. */
  const exported = () =>
    collector
      .requests()
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, ...attributesOf(resource) }))),
      )
      .map((span) => span as typeof span & { part?: string; 'service.name'?: string })
  const named = (name: string) =>
    exported().filter((span) => span.name === name && traceIds.has(span.traceId))
  await collector.until(
    () => named('POST /v1/packages').length === PACKAGES && named('webhook delivery').length === PACKAGES,
  )
  const requests = named('POST /v1/packages')
  for (const delivery of named('webhook delivery')) {
    const request = requests.find(({ traceId }) => traceId === delivery.traceId)
    assert.deepEqual([request?.part, delivery.part], ['api', 'worker'])
    assert.equal(delivery.parentSpanId, request?.spanId)
    assert.equal(delivery['service.name'], 'exchange-trial')
  }
  const links = named('batch packages').flatMap((batch) => batch.links ?? [])
  assert.deepEqual(
    links.map(({ spanId }) => spanId).toSorted(),
    requests.map(({ spanId }) => spanId).toSorted(),
  )
  assert.ok(collector.headers.every((headers) => headers['x-collector-key'] === 'secret-of-the-collector'))
  for (const { log, said } of [api.output, worker.output])
    assert.equal((log + said).includes('secret-of-the-collector'), false)
  assert.deepEqual([await api.stop(), await worker.stop()], [0, 0])
})
