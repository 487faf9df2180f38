import { test } from 'node:test'
import fc from 'fast-check'
import { CryptoError } from './errors.ts'
import { derFromRaw } from './es256-der.ts'
import { fieldValue } from './webhook-request.ts'
import { signWebhook } from './webhook-sign.ts'
import { verifyWebhook, type WebhookKey, type WebhookRequest } from './webhook-verify.ts'
import {
  base,
  baseLines,
  body,
  created,
  delivery,
  headers,
  keys,
  parameters,
  pinned,
  request,
  seconds,
  signedWith,
  signing,
  verification,
} from './webhook.fixture.ts'

test('[EVT-05][EVT-14] we verify our own signatures, for every form of headers', async (t) => {
  const expected = {
    keyId: 'key_n1',
    deliveryId: 'dlv_1',
    eventId: 'evt_1',
    attempt: 2,
    event: { event_id: 'evt_1', sequence: 7 },
  }
  const distinct = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
  )
  for (const form of [headers, new Headers(headers), Object.entries(headers), distinct]) {
    t.assert.deepEqual(await verifyWebhook({ ...request, headers: form }, verification), expected)
  }
})

test('RFC 9421 section 2.1: field values are unfolded, trimmed and joined', (t) => {
  t.assert.equal(
    fieldValue(
      [
        ['CONTENT-TYPE', '  a\r\n\t b '],
        ['content-type', 'c'],
      ],
      'content-type',
    ),
    'a b, c',
  )
  t.assert.equal(fieldValue({ 'Content-Type': ['a', 'b'], other: undefined }, 'content-type'), 'a, b')
  t.assert.equal(fieldValue([], 'signature'), undefined)
})

test('[EVT-14] a missing field is named, whichever it is', async (t) => {
  for (const name of Object.keys(headers)) {
    const { [name]: _gone, ...rest } = headers
    await t.assert.rejects(verifyWebhook({ ...request, headers: rest }, verification), {
      code: 'webhook_component_missing',
      at: name.toLowerCase(),
    })
  }
})

const swap = (from: string, to: string) => signedWith(parameters.replace(from, to))

test('[EVT-05][EVT-14] every deviation from the profile has its own code, even with a valid signature', async (t) => {
  const reordered = [baseLines[1] ?? '', baseLines[0] ?? '', ...baseLines.slice(2)]
  const refused: [string, WebhookRequest][] = [
    [
      'webhook_components',
      await signedWith(parameters.replace('"@method" "@authority"', '"@authority" "@method"'), reordered),
    ],
    [
      'webhook_components',
      await signedWith(parameters.replace(' "svc-delivery-attempt"', ''), baseLines.slice(0, -1)),
    ],
    [
      'webhook_components',
      await signedWith(
        parameters.replace('"@path"', '"@path" "@query"'),
        baseLines.toSpliced(3, 0, '"@query": ?'),
      ),
    ],
    ['webhook_components', await swap('"@method"', '"@method" "@method"')],
    ['webhook_components', await swap('"content-type"', '"content-type";sf')],
    ['webhook_components', await swap('"content-digest"', '"content-digest";key="sha-256"')],
    ['webhook_components', await swap('"@path"', '"@unknown"')],
    ['webhook_components', await swap('"content-type"', '"x-absent"')],
    ['webhook_parameters', await swap(`;created=${seconds}`, '')],
    ['webhook_parameters', await swap(`;expires=${seconds + 300}`, '')],
    ['webhook_key_missing', await swap(';keyid="key_n1"', '')],
    ['webhook_parameters', await swap(';alg="ecdsa-p256-sha256"', '')],
    ['webhook_parameters', await swap(';tag="svc-webhook"', '')],
    ['webhook_parameters', await swap(';tag=', ';nonce="n";tag=')],
    ['webhook_algorithm', await swap('ecdsa-p256-sha256', 'hmac-sha256')],
    ['webhook_tag', await swap('svc-webhook', 'other')],
    ['webhook_key_unknown', await swap('key_n1', 'key_n2')],
    ['webhook_lifetime', await swap(`expires=${seconds + 300}`, `expires=${seconds + 301}`)],
    ['webhook_lifetime', await swap(`expires=${seconds + 300}`, `expires=${seconds}`)],
    ['webhook_lifetime', await swap(`expires=${seconds + 300}`, `expires=${seconds - 1}`)],
    ['webhook_signature_malformed', await swap(`created=${seconds}`, `created="${seconds}"`)],
    ['webhook_signature_malformed', await swap(`created=${seconds}`, `created=${seconds}.5`)],
    ['webhook_signature_malformed', await swap(`;created=${seconds}`, `;created=1;created=${seconds}`)],
    ['webhook_signature_malformed', await swap('("@method"', '(method')],
  ]
  for (const [code, changed] of refused) {
    await t.assert.rejects(verifyWebhook(changed, verification), { code }, JSON.stringify(changed.headers))
  }
})

const encoded = (bytes: Uint8Array) => `sig1=:${Buffer.from(bytes).toString('base64')}:`

test('[EVT-14] the label, the encoding and the length of the signature', async (t) => {
  const raw = Uint8Array.from(Buffer.from(headers.Signature?.slice(6, -1) ?? '', 'base64'))
  const good = headers.Signature ?? ''
  // 64 bytes leave four unused bits in the last character before the padding.
  const spare = good.replace(/.==:$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}==:`)
  const refused: [string, Record<string, string>][] = [
    ['webhook_label', { Signature: good.replace('sig1', 'sig2'), 'Signature-Input': `sig2=${parameters}` }],
    ['webhook_label', { Signature: good.replace('sig1', 'sig2') }],
    ['webhook_signature_malformed', { Signature: `${good}, ${good}` }],
    ['webhook_signature_malformed', { 'Signature-Input': `sig1=${parameters}, sig1=${parameters}` }],
    ['webhook_signature_malformed', { Signature: 'sig1=abc' }],
    ['webhook_signature_malformed', { Signature: 'sig1' }],
    ['webhook_signature_encoding', { Signature: encoded(raw.subarray(1)) }],
    ['webhook_signature_encoding', { Signature: encoded(Uint8Array.of(0, ...raw)) }],
    ['webhook_signature_encoding', { Signature: encoded(derFromRaw(raw)) }],
    ['webhook_signature_encoding', { Signature: spare }],
    ['webhook_signature_encoding', { Signature: good.replace('==:', ':') }],
    ['webhook_signature_mismatch', { Signature: encoded(new Uint8Array(64)) }],
  ]
  for (const [code, change] of refused) {
    const changed = { ...request, headers: { ...headers, ...change } }
    await t.assert.rejects(verifyWebhook(changed, verification), { code }, JSON.stringify(change))
  }
})

test('[EVT-14] a signature with another label is ignored', async (t) => {
  const proxied = {
    ...headers,
    Signature: `proxy=:AAAA:, ${headers.Signature}`,
    'Signature-Input': `proxy=("@method" "x-other");created=1, ${headers['Signature-Input']}`,
  }
  t.assert.equal((await verifyWebhook({ ...request, headers: proxied }, verification)).eventId, 'evt_1')
})

test('[EVT-14] a key is accepted by its dates and its status', async (t) => {
  const refused: [string, Partial<WebhookKey>][] = [
    ['webhook_key_not_yet_valid', { valid_from: '2026-03-01T12:00:06Z' }],
    ['webhook_key_not_yet_valid', { valid_from: 'soon' }],
    ['webhook_key_retired', { valid_until: '2026-03-01T11:59:55Z' }],
    ['webhook_key_retired', { valid_until: 'later' }],
    ['webhook_key_retired', { status: 'retired' }],
    ['webhook_key_retired', { status: 'anything else' }],
    ['webhook_key_revoked', { status: 'revoked' }],
  ]
  for (const [code, change] of refused) {
    const check = verifyWebhook(request, { keys: () => ({ ...pinned, ...change }), now: created })
    await t.assert.rejects(check, { code }, JSON.stringify(change))
  }
  for (const change of [
    { status: 'retiring' },
    { valid_until: null },
    { valid_from: '2026-03-01T12:00:05Z' },
  ]) {
    await verifyWebhook(request, { keys: async () => ({ ...pinned, ...change }), now: created })
  }
})

test('[EVT-14] the time window, with a tolerance for clock skew', async (t) => {
  const from = created.getTime()
  const outcomes: [number, number, string | undefined][] = [
    [-5_001, 5, 'webhook_created_in_future'],
    [-5_000, 5, undefined],
    [-40, 5, undefined],
    [-40, 0, 'webhook_created_in_future'],
    [300_000, 0, undefined],
    [300_001, 0, 'webhook_expired'],
    [305_000, 5, undefined],
    [305_001, 5, 'webhook_expired'],
  ]
  for (const [offset, clockSkewSeconds, code] of outcomes) {
    const check = verifyWebhook(request, { keys, now: new Date(from + offset), clockSkewSeconds })
    if (code === undefined) await check
    else await t.assert.rejects(check, { code }, String(offset))
  }
})

test('[EVT-14] a mismatch reports the signature base and no secret', async (t) => {
  const changed = { ...request, headers: { ...headers, 'svc-delivery-attempt': '3' } }
  await t.assert.rejects(verifyWebhook(changed, verification), {
    code: 'webhook_signature_mismatch',
    signatureBase: base.replace('"svc-delivery-attempt": 2', '"svc-delivery-attempt": 3'),
  })
})

test('[EVT-14] a second instance of a covered field breaks the signature', async (t) => {
  for (const name of ['Content-Type', 'svc-event-id', 'svc-delivery-attempt', 'Content-Digest']) {
    const doubled = [...Object.entries(headers), [name, headers[name] ?? ''] as const]
    const check = verifyWebhook({ ...request, headers: doubled }, verification)
    await t.assert.rejects(check, { code: 'webhook_signature_mismatch' }, name)
  }
})

test('[EVT-14] the body must be the one that was signed, and name the same event', async (t) => {
  const longer = verifyWebhook({ ...request, body: Uint8Array.of(...body, 0x20) }, verification)
  await t.assert.rejects(longer, { code: 'webhook_body_digest' })
  for (const text of ['{"event_id":"evt_2"}', '{}', '[]', 'null', '{"event_id":["evt_1"]}']) {
    const other = new TextEncoder().encode(text)
    const signed = await signWebhook({ ...delivery, body: other }, signing)
    const check = verifyWebhook({ ...request, headers: signed, body: other }, verification)
    await t.assert.rejects(check, { code: 'webhook_event_id' }, text)
  }
  const twice = new TextEncoder().encode('{"event_id":"evt_1","event_id":"evt_1"}')
  const signed = await signWebhook({ ...delivery, body: twice }, signing)
  const check = verifyWebhook({ ...request, headers: signed, body: twice }, verification)
  await t.assert.rejects(check, { code: 'json_duplicate_member', at: 'body' })
})

test('[EVT-05][EVT-14] any flipped bit in a field, the path, the method or the body is detected', async () => {
  const parts: [string, (text: string) => WebhookRequest][] = [
    ...Object.keys(headers).map((name): [string, (text: string) => WebhookRequest] => [
      headers[name] ?? '',
      (text) => ({ ...request, headers: { ...headers, [name]: text } }),
    ]),
    ['POST', (method) => ({ ...request, method })],
    ['/hooks/in', (path) => ({ ...request, url: `https://agent.example${path}` })],
    [
      new TextDecoder().decode(body),
      (text) => ({ ...request, body: Uint8Array.from(Buffer.from(text, 'latin1')) }),
    ],
  ]
  await fc.assert(
    fc.asyncProperty(fc.nat(parts.length - 1), fc.nat(), fc.nat(7), async (part, position, bit) => {
      const [text, rebuild] = parts[part] ?? ['x', () => request]
      const bytes = Buffer.from(text, 'latin1')
      const i = position % bytes.length
      bytes[i] = (bytes[i] ?? 0) ^ (1 << bit)
      try {
        await verifyWebhook(rebuild(bytes.toString('latin1')), verification)
        return false
      } catch (error) {
        return error instanceof CryptoError
      }
    }),
    { numRuns: 600 },
  )
})
