import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CryptoError } from '@agent-exchange/crypto'
import { createProfile } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { ALTERED, DIRECTORY, good, key, others, without, withHeader } from './altered-deliveries.fixture.ts'
import { envelope, handlerFor, NOW, requestOf, signedDelivery, URL_OF_AGENT } from './delivery.fixture.ts'
import { MemoryInbox } from './memory-inbox.ts'
import { createNotificationKeys } from './notification-keys.ts'
import type { WebhookHandlerOptions } from './webhook-handler.ts'

/** A receiver with a real inbox and real pins, and what it said. */
function receiver(change: Partial<WebhookHandlerOptions> = {}) {
  const rejected: { error: ExchangeError; status: number }[] = []
  const onRejected = (error: ExchangeError, status: number) => void rejected.push({ error, status })
  return { ...handlerFor(DIRECTORY, { onRejected, ...change }), rejected }
}

test('[EVT-14] every rejection rule: a signed delivery with one thing changed is refused before storage', async (t) => {
  for (const [name, status, code, altered] of ALTERED) {
    await t.test(name, async () => {
      const { handler, inbox, rejected } = receiver()
      const response = await handler(requestOf(await altered))
      assert.equal(response.status, status)
      assert.equal((await inbox.position()).pending, 0)
      assert.equal(rejected.length, 1)
      const { error } = rejected[0] ?? {}
      assert.equal(error?.code, 'webhook_rejected')
      assert.equal((error.cause as CryptoError | ExchangeError).code, code)
      assert.equal(error.retryable, false)
      // The sender learns nothing of that.
      const said = await response.text()
      assert.deepEqual(JSON.parse(said), { type: 'about:blank', title: 'The delivery was not taken', status })
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    })
  }
})

test('[EVT-14] 204 for a new event and for an identical one; the row is the same', async () => {
  const { handler, inbox, rejected } = receiver()
  for (const attempt of [1, 2]) {
    const response = await handler(requestOf(await signedDelivery(key, envelope(1), { attempt })))
    assert.deepEqual([response.status, await response.text()], [204, ''])
  }
  // A replay by the operator: another delivery of the same event; other white space is still the same event.
  const replay = JSON.stringify(envelope(1), null, 2)
  const again = await signedDelivery(key, replay, { deliveryId: 'dlv_replay', eventId: 'evt_1' })
  assert.equal((await handler(requestOf(again))).status, 204)
  const stored = await inbox.list('pending', 9)
  assert.deepEqual(
    stored.map(({ eventId, sequence, source }) => [eventId, sequence, source]),
    [['evt_1', 1, 'webhook']],
  )
  assert.deepEqual(rejected, [])
  // A retiring key still signs; events come in any order.
  assert.equal((await handler(requestOf(await signedDelivery(others.retiring, envelope(9))))).status, 204)
})

test('[EVT-14] another event under the same id, or under the same sequence, is refused and reported', async () => {
  const { handler, inbox, rejected } = receiver()
  await handler(requestOf(good))
  for (const other of [envelope(1, { state: 'delivered' }), envelope(1, { event_id: 'evt_new' })]) {
    assert.equal((await handler(requestOf(await signedDelivery(key, other)))).status, 422)
  }
  assert.deepEqual(
    rejected.map(({ error }) => (error.cause as ExchangeError).code),
    ['event_conflict', 'event_conflict'],
  )
  assert.equal((await inbox.list('pending', 9)).length, 1)
})

test('[EVT-14] an event of another organization is refused, however well it is signed', async () => {
  const { handler, inbox, rejected } = receiver()
  const foreign = await signedDelivery(key, envelope(1, { organization_id: 'org_other' }))
  assert.equal((await handler(requestOf(foreign))).status, 422)
  assert.match(rejected[0]?.error.message ?? '', /another organization/)
  assert.equal((await inbox.position()).pending, 0)
})

test('a rejection says what differs: the base that the signature had to cover', async () => {
  const { handler, rejected } = receiver()
  await handler(requestOf({ ...good, url: 'http://10.0.0.7:3000/in' }))
  const base = String(rejected[0]?.error.details['signatureBase'])
  assert.match(base, /"@authority": 10\.0\.0\.7:3000\n"@path": \/in\n/)
  assert.match(rejected[0]?.error.message ?? '', /before any proxy rewrote/)
})

test('behind a proxy, publicUrl is the address that the sender signed for', async () => {
  const behind = { ...good, url: 'http://10.0.0.7:3000/in' }
  assert.equal((await receiver({ publicUrl: URL_OF_AGENT }).handler(requestOf(behind))).status, 204)
  // And the only one: a delivery that was signed for another endpoint is not taken here.
  const elsewhere = await signedDelivery(key, envelope(1), { url: 'https://agent.example/hooks/out' })
  const { handler } = receiver({ publicUrl: URL_OF_AGENT })
  assert.equal((await handler(requestOf(elsewhere))).status, 401)
  assert.throws(() => receiver({ publicUrl: '/hooks/in' }), { code: 'input_invalid' })
})

test('methods, media types and sizes that no delivery has', async () => {
  const { handler, inbox, rejected } = receiver({ limits: { maximumBytes: 1_000, timeoutMs: 50 } })
  for (const method of ['GET', 'HEAD']) {
    const response = await handler(new Request(URL_OF_AGENT, { method }))
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
  }
  assert.equal((await handler(requestOf(good, { method: 'PUT' }))).status, 405)
  assert.equal((await handler(requestOf(withHeader('Content-Type', 'text/plain')))).status, 415)
  const large = await signedDelivery(key, envelope(1, { correlation_id: 'c'.repeat(2_000) }))
  assert.equal((await handler(requestOf(large))).status, 413)
  assert.equal(
    (await handler(requestOf({ ...large, headers: { ...large.headers, 'content-length': '99999' } }))).status,
    413,
  )
  const stream = (pull: (controller: ReadableStreamDefaultController) => void) =>
    requestOf(good, { body: new ReadableStream({ pull }), duplex: 'half' })
  let chunks = 0
  const endless = stream((controller) => {
    chunks++
    controller.enqueue(new Uint8Array(100))
  })
  assert.equal((await handler(endless)).status, 413)
  assert.ok(chunks < 20, `${chunks} chunks were read`)
  assert.equal((await handler(stream(() => undefined))).status, 408)
  assert.equal((await handler(stream((controller) => controller.error(new Error('cut'))))).status, 400)
  assert.equal((await inbox.position()).pending, 0)
  // Only what comes again by itself is called retryable.
  assert.deepEqual(
    rejected.map(({ error, status }) => [status, error.retryable]),
    [405, 405, 405, 415, 413, 413, 413, 408, 400].map((status) => [status, status === 408]),
  )
})

test('[EVT-14] trouble of the inbox or of the key directory is 503, so that the delivery comes again', async () => {
  const unavailable = new ExchangeError('inbox_unavailable', { retryable: true })
  const full = receiver({ inbox: { store: () => Promise.reject(unavailable) } })
  assert.equal((await full.handler(requestOf(good))).status, 503)
  assert.deepEqual([full.rejected[0]?.error.cause, full.rejected[0]?.error.retryable], [unavailable, true])
  const unreachable = new ExchangeError('exchange_unreachable')
  const blind = receiver({
    keys: createNotificationKeys({
      fetchDirectory: () => Promise.reject(unreachable),
      store: new MemoryInbox(),
      now: () => NOW,
    }),
  })
  assert.equal((await blind.handler(requestOf(good))).status, 503)
  assert.equal(blind.rejected[0]?.error.cause, unreachable)
})

test('[O-12] statuses are those of the profile', async () => {
  const created = createProfile({ 'O-12': { signature: 403, digest: 409, notification: 400, inbox: 500 } })
  assert.ok(created.ok)
  const { handler } = receiver({ profile: created.profile })
  const statuses = [
    (await handler(requestOf(without('Signature')))).status,
    (await handler(requestOf({ ...good, body: new Uint8Array(3) }))).status,
    (await handler(requestOf(await signedDelivery(key, '[]')))).status,
  ]
  assert.deepEqual(statuses, [403, 409, 400])
})

test('[O-49][EVT-14] the tolerance for clocks that differ is that of the profile, or of the receiver', async () => {
  const created = createProfile({ 'O-49': { webhook_seconds: 0 } })
  assert.ok(created.ok)
  const early = () => new Date(NOW.getTime() - 4_000)
  const statusOf = async (change: Partial<WebhookHandlerOptions>) =>
    (await receiver({ now: early, ...change }).handler(requestOf(good))).status
  assert.equal(await statusOf({}), 204)
  assert.equal(await statusOf({ profile: created.profile }), 401)
  assert.equal(await statusOf({ profile: created.profile, clockSkewSeconds: 5 }), 204)
})

test('a listener that fails changes no answer', async () => {
  const fail = () => {
    throw new Error('listener')
  }
  const { handler } = receiver({ onRejected: fail, onStored: fail })
  assert.equal((await handler(requestOf(good))).status, 204)
  assert.equal((await handler(requestOf(without('Signature')))).status, 401)
})
