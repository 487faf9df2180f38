import assert from 'node:assert/strict'
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { after, test } from 'node:test'
import { type ReceivedWebhook, allDelivered, deliveryWorld } from '@agent-exchange/testkit'
import { httpbis } from 'http-message-signatures'

const made = await deliveryWorld()
after(() => made[Symbol.asyncDispose]())
const { world, receiver, owner } = made

const COMPONENTS = [
  '@method',
  '@authority',
  '@path',
  'content-digest',
  'content-type',
  'svc-delivery-id',
  'svc-event-id',
  'svc-delivery-attempt',
]

interface Listed {
  readonly key_id: string
  readonly public_key: JsonWebKey
}

/** Uses http-message-signatures and node:crypto, and none of our own code. */
async function verifies(webhook: ReceivedWebhook, url: string, body = webhook.body): Promise<boolean> {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
  if (webhook.headers['content-digest'] !== digest) return false
  const { body: directory } = await owner.get('/v1/directory/notification-keys')
  const result = await httpbis.verifyMessage(
    {
      requiredFields: COMPONENTS,
      requiredParams: ['created', 'expires', 'keyid', 'alg', 'tag'],
      maxAge: 300,
      tolerance: 5,
      keyLookup: async ({ keyid, alg }) => {
        const key = (directory['keys'] as Listed[]).find(({ key_id }) => key_id === keyid)
        if (!key || alg !== 'ecdsa-p256-sha256') return null
        const publicKey = createPublicKey({ key: key.public_key, format: 'jwk' })
        return {
          id: key.key_id,
          algs: ['ecdsa-p256-sha256'],
          verify: async (data, signature) =>
            verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature),
        }
      },
    },
    { method: webhook.method, url, headers: webhook.headers as Record<string, string> },
  )
  return result === true
}

test('[EVT-05][EVT-03] an independent RFC 9421 implementation verifies what the receiver got', async () => {
  const url = `${receiver.url}/of%20ours?tenant=7`
  const endpointId = await made.endpoint(url)
  await made.event()
  const [delivery] = await made.until(allDelivered, 'delivered')
  const [webhook] = receiver.received
  assert.ok(webhook && delivery)
  assert.equal(await verifies(webhook, url), true)
  assert.equal(
    await verifies({ ...webhook, headers: { ...webhook.headers, 'svc-event-id': 'evt_x' } }, url),
    false,
  )
  assert.equal(await verifies(webhook, url, Buffer.concat([webhook.body, Buffer.from(' ')])), false)
  assert.match(
    String(webhook.headers['signature-input']),
    /^sig1=\("@method" "@authority" "@path" "content-digest" "content-type" "svc-delivery-id" "svc-event-id" "svc-delivery-attempt"\);created=\d+;expires=\d+;keyid="[^"]+";alg="ecdsa-p256-sha256";tag="svc-webhook"$/,
  )
  assert.deepEqual([webhook.method, webhook.path], ['POST', '/hook/of%20ours?tenant=7'])
  assert.deepEqual([webhook.deliveryId, webhook.attempt], [delivery.delivery_id, 1])
  assert.equal(webhook.headers['content-type'], 'application/json')
  assert.match(webhook.headers['user-agent'] ?? '', /^agent-exchange/)

  const { text } = await owner.get('/v1/notifications')
  assert.ok(text.includes(webhook.body.toString()), 'the polling view holds the same bytes')
  const envelope = JSON.parse(webhook.body.toString()) as Record<string, unknown>
  assert.equal(webhook.eventId, envelope['event_id'])

  // The recorded attempt.
  const [attempt] = delivery.attempts
  assert.ok(attempt)
  const { details } = attempt
  assert.equal(attempt.outcome, 'delivered')
  assert.deepEqual([details['address'], details['status']], ['127.0.0.1', 204])
  assert.equal(details['tls_version'], webhook.tlsVersion)
  assert.match(String(webhook.headers['signature-input']), new RegExp(`keyid="${String(details['key_id'])}"`))
  const base = httpbis.formatSignatureBase([
    ...httpbis.createSignatureBase(
      { fields: COMPONENTS.map((name) => `"${name}"`) },
      { method: 'POST', url, headers: webhook.headers as Record<string, string> },
    ),
    ['"@signature-params"', [String(webhook.headers['signature-input']).slice('sig1='.length)]],
  ])
  assert.equal(details['signature_base'], base)
  const shown = await world.operate('GET', `/deliveries/${delivery.delivery_id}`)
  assert.equal(shown.body['state'], 'delivered')
  await world.operate('POST', `/endpoints/${endpointId}/delete`, { reason: 'done' })
})
