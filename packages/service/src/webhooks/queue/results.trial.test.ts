import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { sendPackage, type Reply, deliveryWorld, type DeliveryState } from '@agent-exchange/testkit'
import { MAXIMUM_RESPONSE_BYTES } from '../worker/webhook-limits.ts'

const made = await deliveryWorld({ profile: { 'O-13': { webhook_endpoints: 100 } } })
after(() => made[Symbol.asyncDispose]())
const { world, receiver, sender, owner } = made

/** Sends one event to a new endpoint; resolves when its first attempt is recorded. */
async function deliver(reply: Reply, url?: string): Promise<{ endpointId: string; delivery: DeliveryState }> {
  receiver.reply = reply
  const endpointId = await made.endpoint(url ?? `${receiver.url}/${randomBytes(4).toString('hex')}`)
  await made.event()
  const own = async (all: DeliveryState[]) => {
    const rows = await world.sql<{ delivery_id: string }[]>`
      select delivery_id from delivery where webhook_endpoint_id = ${endpointId}`
    return all.find(({ delivery_id }) => delivery_id === rows[0]?.delivery_id)
  }
  for (;;) {
    const all = await made.until(
      (rows) => rows.every((row) => row.attempts.length > 0 || row.state !== 'pending'),
      'settled',
    )
    const delivery = await own(all)
    await world.operate('POST', `/endpoints/${endpointId}/delete`, { reason: 'done' })
    if (delivery) return { endpointId, delivery: { ...delivery } }
  }
}

const RESULTS: readonly (readonly [string, Reply, string, Record<string, unknown>])[] = [
  ['200 with a body', (_, response) => void response.end('{"ok":true}'), 'delivered', { status: 200 }],
  ['299', () => 299, 'delivered', { status: 299 }],
  ['404', () => 404, 'failed', { status: 404 }],
  ['422', () => 422, 'failed', { status: 422 }],
  ['408', () => 408, 'retry', { status: 408 }],
  ['425', () => 425, 'retry', { status: 425 }],
  ['503', () => 503, 'retry', { status: 503 }],
  [
    'a redirect',
    (_, response) => void response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end(),
    'failed',
    { status: 307 },
  ],
  ['a connection that is cut', (_, response) => void response.destroy(), 'retry', { error_class: 'reset' }],
  [
    'no HTTP',
    (_, response) => void response.socket?.end('nonsense\r\n\r\n'),
    'retry',
    { error_class: 'protocol' },
  ],
  [
    'early hints, then an answer',
    (_, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      return 204
    },
    'delivered',
    { status: 204 },
  ],
  [
    'a change of protocol',
    (_, response) =>
      void response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      ),
    'retry',
    {},
  ],
  [
    'a 2xx with an endless body: the status decides',
    (_, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(16_384)
      const more = () => void (response.destroyed || response.write(chunk, () => setImmediate(more)))
      more()
    },
    'delivered',
    { status: 200 },
  ],
  [
    'a 2xx whose body stops halfway: the status decides',
    (_, response) => void response.writeHead(200, { 'content-length': '1000' }).write('x'),
    'delivered',
    { status: 200 },
  ],
  [
    'a 500 with a long body',
    (_, response) => void response.writeHead(500).end(Buffer.alloc(4 * MAXIMUM_RESPONSE_BYTES)),
    'retry',
    { status: 500 },
  ],
  [
    'headers without end',
    (_, response) => void response.socket?.write(`HTTP/1.1 204 No Content\r\n${'x: y\r\n'.repeat(10_000)}`),
    'retry',
    { error_class: 'protocol' },
  ],
]

for (const [name, reply, outcome, details] of RESULTS) {
  test(`[EVT-08] ${name}: ${outcome}`, async () => {
    const { delivery } = await deliver(reply)
    const [attempt] = delivery.attempts
    assert.equal(attempt?.outcome, outcome, JSON.stringify(attempt))
    for (const [key, value] of Object.entries(details)) assert.equal(attempt.details[key], value)
    assert.equal(typeof attempt.details['duration_ms'], 'number')
  })
}

test('[EVT-08] redirects are not followed', () => {
  assert.equal(
    receiver.received.some(({ path }) => path.includes('elsewhere')),
    false,
  )
})

const FAILURES: readonly (readonly [string, string, string])[] = [
  ['a name without address', 'https://nobody.invalid/hook', 'dns'],
  ['nobody listening', 'https://127.0.0.1:9/hook', 'refused'],
]
for (const [name, url, errorClass] of FAILURES) {
  test(`[EVT-08] ${name}: retried`, async () => {
    const { delivery } = await deliver(() => 204, url)
    const [attempt] = delivery.attempts
    assert.deepEqual([attempt?.outcome, attempt?.details['error_class']], ['retry', errorClass])
  })
}

test('[EVT-08] 410 disables the endpoint and alerts its owner; nothing more is sent to it', async () => {
  receiver.reply = () => 410
  const endpointId = await made.endpoint(`${receiver.url}/gone`)
  await made.event()
  await made.until((rows) => rows.at(-1)?.state === 'failed', 'failed')
  const [endpoint] = await world.sql`
    select status, status_reason from webhook_endpoint where webhook_endpoint_id = ${endpointId}`
  assert.deepEqual({ ...endpoint }, { status: 'disabled', status_reason: 'the receiver answered 410 Gone' })
  const logged = await world.sql`
    select actor, action, reason from operator_log where target = ${endpointId}`
  assert.deepEqual(
    logged.map((entry) => ({ ...entry })),
    [{ actor: 'service', action: 'endpoint.disable', reason: 'the receiver answered 410 Gone' }],
  )
  const alerts = await world.sql`select kind from alert where webhook_endpoint_id = ${endpointId}`
  assert.deepEqual(
    alerts.map(({ kind }) => kind),
    ['endpoint_disabled'],
  )
  const before = receiver.received.filter(({ path }) => path.endsWith('/gone')).length
  await made.event()
  assert.equal(before, 1)
  const { body } = await owner.get('/v1/notifications?limit=100')
  const last = (body['items'] ?? body['notifications']) as unknown[]
  assert.ok(Array.isArray(last) && last.length > 0, 'the stream goes on')
})

test('[EVT-09] webhook failures change neither the package nor its evidence nor the notification stream', async () => {
  const before = receiver.received.length
  receiver.reply = (_, response) => void response.destroy()
  const endpointId = await made.endpoint(`${receiver.url}/broken`)
  const draft = await sendPackage(sender, owner)
  const facts = async () => {
    const id = draft.metadata.package_id
    const answers = await Promise.all([
      sender.get(`/v1/packages/${id}`),
      sender.get(`/v1/audit/packages/${id}`),
      owner.get('/v1/notifications?limit=100'),
    ])
    // Only the time of the evidence request may differ.
    return answers.map(({ status, body }) => ({ status, body: { ...body, generated_at: undefined } }))
  }
  const first = await facts()
  for (let i = 0; i < 7; i++) {
    await made.until(
      (rows) =>
        rows.filter(({ state, attempts }) => state === 'pending' && attempts.length === i).length === 0,
      'tried',
    )
    world.clock.advance(86_500)
  }
  await made.until((rows) => rows.some(({ state }) => state === 'dead'), 'dead')
  assert.ok(receiver.received.length > before)
  world.clock.set(new Date().toISOString())
  assert.deepEqual(await facts(), first)
  await world.operate('POST', `/endpoints/${endpointId}/delete`, { reason: 'done' })
})

test('no log line contains a body, and each failed attempt has one line', async () => {
  const lines = world.logged.filter((line) => line.includes('webhook delivery failed'))
  const [row] = await world.sql<{ count: string }[]>`
    select count(*) as count from delivery_attempt where outcome <> 'delivered'`
  assert.equal(lines.length, Number(row?.count))
  assert.equal(
    world.logged.some((line) => line.includes('content_digest')),
    false,
  )
})
