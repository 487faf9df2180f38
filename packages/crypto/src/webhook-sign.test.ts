import { test } from 'node:test'
import { createSignature } from 'http-message-sig'
import { verifyEs256 } from './es256.ts'
import { signWebhook } from './webhook-sign.ts'
import { verifyWebhook } from './webhook-verify.ts'
import {
  base,
  created,
  delivery,
  headers,
  pinned,
  publicKey,
  request,
  seconds,
  signing,
  url,
  verification,
} from './webhook.fixture.ts'

test('[EVT-05] a signed delivery has the fields of the profile', async (t) => {
  t.assert.deepEqual(Object.keys(headers).toSorted(), [
    'Content-Digest',
    'Content-Type',
    'Signature',
    'Signature-Input',
    'svc-delivery-attempt',
    'svc-delivery-id',
    'svc-event-id',
  ])
  t.assert.equal(
    headers['Signature-Input'],
    'sig1=("@method" "@authority" "@path" "content-digest" "content-type" "svc-delivery-id" "svc-event-id" ' +
      `"svc-delivery-attempt");created=${seconds};expires=${seconds + 300};keyid="key_n1";` +
      'alg="ecdsa-p256-sha256";tag="svc-webhook"',
  )
  const signature = Buffer.from(headers.Signature?.slice(6, -1) ?? '', 'base64')
  t.assert.equal(await verifyEs256(publicKey, new TextEncoder().encode(base), signature), true)
})

test('[EVT-05] http-message-sig writes the same Signature-Input over the same base', async (t) => {
  let theirs = ''
  const fields = Object.entries(headers).map(([name, value]) => ({ name, value }))
  const { signatureInput } = await createSignature(
    { kind: 'request', method: 'POST', targetUri: url, fields },
    {
      label: 'sig1',
      components: [
        '@method',
        '@authority',
        '@path',
        'content-digest',
        'content-type',
        'svc-delivery-id',
        'svc-event-id',
        'svc-delivery-attempt',
      ],
      parameters: {
        created: seconds,
        expires: seconds + 300,
        keyid: 'key_n1',
        alg: 'ecdsa-p256-sha256',
        tag: 'svc-webhook',
      },
      signer: {
        algorithm: 'ecdsa-p256-sha256',
        sign: (data) => {
          theirs = new TextDecoder().decode(data)
          return new Uint8Array(64)
        },
      },
    },
  )
  t.assert.equal(signatureInput, headers['Signature-Input'])
  t.assert.equal(theirs, base)
})

test('RFC 9421 section 2.2: authority and path are normalized on both sides', async (t) => {
  const signed = await signWebhook({ ...delivery, url: 'HTTPS://Agent.Example:443' }, signing)
  await verifyWebhook({ ...request, url: 'https://agent.example/?q=1', headers: signed }, verification)
  const ported = await signWebhook({ ...delivery, url: 'https://agent.example:8443/a%20b' }, signing)
  await verifyWebhook({ ...request, url: 'https://AGENT.example:8443/a%20b', headers: ported }, verification)
  const elsewhere = verifyWebhook(
    { ...request, url: 'https://agent.example/a%20b', headers: ported },
    verification,
  )
  await t.assert.rejects(elsewhere, { code: 'webhook_signature_mismatch' })
})

test('[EVT-05] signing refuses input that could not be verified', async (t) => {
  for (const lifetimeSeconds of [0, 301, 1.5, Number.NaN]) {
    await t.assert.rejects(signWebhook(delivery, { ...signing, lifetimeSeconds }), {
      code: 'webhook_lifetime',
    })
  }
  for (const change of [
    { eventId: 'a\nb' },
    { deliveryId: '' },
    { contentType: 'ä' },
    { url: '/relative' },
    { url: 'ftp://a' },
  ]) {
    await t.assert.rejects(signWebhook({ ...delivery, ...change }, signing), { code: 'webhook_value' })
  }
  await t.assert.rejects(signWebhook(delivery, { ...signing, keyId: 'k\r\n' }), { code: 'webhook_value' })
  const quoted = await signWebhook(delivery, { ...signing, keyId: 'a"b\\c' })
  const verified = await verifyWebhook({ ...request, headers: quoted }, { keys: () => pinned, now: created })
  t.assert.equal(verified.keyId, 'a"b\\c')
})
