import type { NotificationKeyDirectory } from '@agent-exchange/protocol'
import {
  directoryOf,
  envelope,
  NOW,
  resigned,
  signedDelivery,
  testKey,
  type Signed,
} from './delivery.fixture.ts'

/** The attacks on a receiver of webhooks. Receivers in other languages have to pass the same list. */
export const key = await testKey('key_n1')
export const others = {
  early: await testKey('key_early', { valid_from: '2026-06-01T00:00:00Z' }),
  over: await testKey('key_over', { valid_until: '2026-02-01T00:00:00Z' }),
  retired: await testKey('key_retired', { status: 'retired' }),
  retiring: await testKey('key_retiring', { status: 'retiring' }),
  revoked: await testKey('key_revoked', { status: 'revoked' }),
  encryption: await testKey('key_encryption', { use: 'encryption' }),
  unknown: await testKey('key_unknown'),
}
const { unknown: _unlisted, ...listed } = others

export const DIRECTORY: NotificationKeyDirectory = directoryOf([key, ...Object.values(listed)])

export const good = await signedDelivery(key, envelope(1))
export const without = (name: string): Signed => {
  const { [name]: _gone, ...headers } = good.headers
  return { ...good, headers }
}
export const withHeader = (name: string, value: string): Signed => ({
  ...good,
  headers: { ...good.headers, [name]: value },
})
const withParameters = (from: string | RegExp, to: string) =>
  resigned(key, good, ({ parameters, lines }) => ({ lines, parameters: parameters.replace(from, to) }))
const flipped = () => {
  const signature = good.headers['Signature'] ?? ''
  const at = signature.length - 20
  return signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1)
}
const lines = (change: (all: string[]) => string[], list: (text: string) => string) =>
  resigned(key, good, (parts) => ({ lines: change(parts.lines), parameters: list(parts.parameters) }))

/** Each row is one good delivery with one thing changed: its name, the status, the code, the delivery. */
export const ALTERED: [string, number, string, Signed | Promise<Signed>][] = [
  // A required component is absent.
  ...Object.keys(good.headers).map((name): [string, number, string, Signed] => [
    `without ${name}`,
    401,
    'webhook_component_missing',
    without(name),
  ]),
  [
    'a component less is covered',
    401,
    'webhook_components',
    lines(
      (all) => all.slice(0, -1),
      (text) => text.replace(' "svc-delivery-attempt"', ''),
    ),
  ],
  [
    'components in another order',
    401,
    'webhook_components',
    lines(
      ([method = '', authority = '', ...rest]) => [authority, method, ...rest],
      (text) => text.replace('"@method" "@authority"', '"@authority" "@method"'),
    ),
  ],
  // The profile.
  ['another label', 401, 'webhook_label', { ...good, headers: relabelled('sig2') }],
  ['another algorithm', 401, 'webhook_algorithm', withParameters('ecdsa-p256-sha256', 'ed25519')],
  ['another tag', 401, 'webhook_tag', withParameters('svc-webhook', 'svc-other')],
  ['no tag', 401, 'webhook_parameters', withParameters(/;tag="[^"]*"/, '')],
  ['no created', 401, 'webhook_parameters', withParameters(/;created=\d+/, '')],
  ['no expires', 401, 'webhook_parameters', withParameters(/;expires=\d+/, '')],
  ['a parameter more', 401, 'webhook_parameters', withParameters(/$/, ';nonce="x"')],
  // The key.
  ['no keyid', 401, 'webhook_key_missing', withParameters(/;keyid="[^"]*"/, '')],
  ['an unknown key', 401, 'webhook_key_unknown', signedDelivery(others.unknown, envelope(1))],
  [
    'a key that is not valid yet',
    401,
    'webhook_key_not_yet_valid',
    signedDelivery(others.early, envelope(1)),
  ],
  ['a key past its end', 401, 'webhook_key_retired', signedDelivery(others.over, envelope(1))],
  ['a retired key', 401, 'webhook_key_retired', signedDelivery(others.retired, envelope(1))],
  ['a revoked key', 401, 'webhook_key_revoked', signedDelivery(others.revoked, envelope(1))],
  ['a key for something else', 401, 'webhook_key_unknown', signedDelivery(others.encryption, envelope(1))],
  [
    'another key under a good id',
    401,
    'webhook_signature_mismatch',
    signedDelivery({ ...others.unknown, keyId: key.keyId }, envelope(1)),
  ],
  // The time window.
  [
    'expired',
    401,
    'webhook_expired',
    signedDelivery(key, envelope(1), { created: new Date(NOW.getTime() - 306_000) }),
  ],
  [
    'from the future',
    401,
    'webhook_created_in_future',
    signedDelivery(key, envelope(1), { created: new Date(NOW.getTime() + 7_000) }),
  ],
  [
    'a window too wide',
    401,
    'webhook_lifetime',
    withParameters(/expires=(\d+)/, `expires=${NOW.getTime() / 1_000 + 301}`),
  ],
  // The signature.
  ['a changed signature', 401, 'webhook_signature_mismatch', withHeader('Signature', flipped())],
  ['no signature in it', 401, 'webhook_signature_encoding', withHeader('Signature', 'sig1=:AAAA:')],
  ['a signature that is none', 401, 'webhook_signature_malformed', withHeader('Signature', 'sig1=nonsense:')],
  ['another delivery id', 401, 'webhook_signature_mismatch', withHeader('svc-delivery-id', 'dlv_2')],
  ['another event id', 401, 'webhook_signature_mismatch', withHeader('svc-event-id', 'evt_2')],
  ['another attempt', 401, 'webhook_signature_mismatch', withHeader('svc-delivery-attempt', '2')],
  [
    'another content type',
    401,
    'webhook_signature_mismatch',
    withHeader('Content-Type', 'application/json; charset=utf-8'),
  ],
  [
    'another digest',
    401,
    'webhook_signature_mismatch',
    withHeader('Content-Digest', 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'),
  ],
  ['another path', 401, 'webhook_signature_mismatch', { ...good, url: 'https://agent.example/hooks/out' }],
  ['another host', 401, 'webhook_signature_mismatch', { ...good, url: 'https://agent.test/hooks/in' }],
  // The digest.
  ['another body', 400, 'webhook_body_digest', { ...good, body: changedBody((text) => `${text} `) }],
  [
    'a body cut short',
    400,
    'webhook_body_digest',
    { ...good, body: changedBody((text) => text.slice(0, -1)) },
  ],
  ['no body', 400, 'webhook_body_digest', { ...good, body: new Uint8Array() }],
  // The notification, though signed.
  ['no JSON', 422, 'json_syntax', signedDelivery(key, 'not json')],
  [
    'a name twice',
    422,
    'json_duplicate_member',
    signedDelivery(key, '{"event_id":"evt_1","event_id":"evt_1"}'),
  ],
  ['not UTF-8', 422, 'json_byte_order_mark', signedDelivery(key, `\ufeff${JSON.stringify(envelope(1))}`)],
  ['no object', 422, 'notification_invalid', signedDelivery(key, '[]')],
  ...Object.keys(envelope(1)).map((name): [string, number, string, Promise<Signed>] => [
    `a notification without ${name}`,
    422,
    'notification_invalid',
    signedDelivery(key, JSON.stringify({ ...envelope(1), [name]: undefined }), { eventId: 'evt_1' }),
  ]),
  ['a sequence below zero', 422, 'notification_invalid', signedDelivery(key, envelope(1, { sequence: -1 }))],
  ['an unknown state', 422, 'notification_invalid', signedDelivery(key, envelope(1, { state: 'lost' }))],
  [
    'a local time',
    422,
    'notification_invalid',
    signedDelivery(key, envelope(1, { occurred_at: '2026-03-01T12:00:00+01:00' })),
  ],
  [
    'another protocol',
    422,
    'notification_invalid',
    signedDelivery(key, envelope(1, { protocol_version: 'svc/9.9' })),
  ],
  ['ids that differ', 422, 'webhook_event_id', signedDelivery(key, envelope(1), { eventId: 'evt_2' })],
]

function relabelled(label: string): Record<string, string> {
  const { Signature = '', 'Signature-Input': input = '', ...rest } = good.headers
  return {
    ...rest,
    Signature: Signature.replace('sig1', label),
    'Signature-Input': input.replace('sig1', label),
  }
}

function changedBody(change: (text: string) => string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(change(new TextDecoder().decode(good.body)))
}
