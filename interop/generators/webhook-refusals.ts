import { HEADER } from '@agent-exchange/protocol'
import { toDer } from './es256.ts'
import {
  type Delivery,
  parameters,
  PINNED,
  sign,
  type SignedDelivery,
  type WebhookInput,
} from './webhook-request.ts'

export type Refused = [name: string, description: string, input: WebhookInput, code: string]

/** The request was changed in transit, or the clock differs. */
export function alteredOnItsWay({ input, signature }: SignedDelivery): Refused[] {
  const { request } = input
  const headers = (change: (field: [string, string]) => [string, string][]): WebhookInput => ({
    ...input,
    request: { ...request, headers: request.headers.flatMap(change) },
  })
  const without = (name: string) => headers((field) => (field[0] === name ? [] : [field]))
  const replaced = (name: string, change: (value: string) => string) =>
    headers(([field, value]) => [[field, field === name ? change(value) : value]])
  const at = (now: string) => ({ ...input, now })
  const der = Buffer.from(toDer(signature.subarray(0, 32), signature.subarray(32))).toString('base64')
  const mismatch = 'webhook_signature_mismatch'
  return [
    ['signature-missing', 'No Signature.', without('Signature'), 'webhook_component_missing'],
    [
      'signature-input-missing',
      'No Signature-Input.',
      without('Signature-Input'),
      'webhook_component_missing',
    ],
    ['digest-missing', 'No Content-Digest.', without('content-digest'), 'webhook_component_missing'],
    ['event-id-missing', 'No event id in the fields.', without(HEADER.eventId), 'webhook_component_missing'],
    [
      'signature-input-broken',
      'A Signature-Input that cannot be parsed.',
      replaced('Signature-Input', (value) => value.replace('(', '')),
      'webhook_signature_malformed',
    ],
    [
      'signature-twice',
      'The label twice.',
      replaced('Signature', (value) => `${value}, ${value}`),
      'webhook_signature_malformed',
    ],
    [
      'other-label',
      'The label sig2.',
      headers(([name, value]) => [
        [name, name.startsWith('Signature') ? value.replace('sig1=', 'sig2=') : value],
      ]),
      'webhook_label',
    ],
    [
      'der',
      'The signature as ASN.1 DER.',
      replaced('Signature', () => `sig1=:${der}:`),
      'webhook_signature_encoding',
    ],
    ['method-changed', 'Another method.', { ...input, request: { ...request, method: 'PUT' } }, mismatch],
    [
      'authority-changed',
      'Sent to another host.',
      { ...input, request: { ...request, url: 'https://other.example/hooks/exchange' } },
      mismatch,
    ],
    [
      'path-changed',
      'Another path.',
      { ...input, request: { ...request, url: `${request.url}/` } },
      mismatch,
    ],
    ['attempt-changed', 'Another attempt.', replaced(HEADER.deliveryAttempt, () => '2'), mismatch],
    [
      'content-type-changed',
      'Another content type.',
      replaced('content-type', (value) => `${value}; charset=utf-8`),
      mismatch,
    ],
    [
      'parameters-changed',
      'Another expiry than was signed.',
      replaced('Signature-Input', (value) => value.replace('expires=1772438702', 'expires=1772438701')),
      mismatch,
    ],
    [
      'body-changed',
      'Another body: one byte more.',
      { ...input, request: { ...request, body: `${request.body} ` } },
      'webhook_body_digest',
    ],
    ['expired', 'Six seconds after expiry.', at('2026-03-02T08:05:08Z'), 'webhook_expired'],
    [
      'created-in-future',
      'Six seconds before it was made.',
      at('2026-03-02T07:59:56Z'),
      'webhook_created_in_future',
    ],
  ]
}

/** The signature is valid, but its key is not accepted. */
export function withPinnedKeys(input: WebhookInput): Refused[] {
  const pinned = (change: object) => ({ ...input, pinned_keys: [{ ...PINNED, ...change }] })
  return [
    ['key-unknown', 'A key that is not pinned.', { ...input, pinned_keys: [] }, 'webhook_key_unknown'],
    [
      'key-not-yet-valid',
      'A key that is published and not yet valid.',
      pinned({ valid_from: '2026-04-01T00:00:00Z' }),
      'webhook_key_not_yet_valid',
    ],
    [
      'key-past',
      'A key past its valid_until.',
      pinned({ valid_until: '2026-03-01T00:00:00Z' }),
      'webhook_key_retired',
    ],
    [
      'key-retired',
      'A retired key, kept for history alone.',
      pinned({ status: 'retired' }),
      'webhook_key_retired',
    ],
    ['key-revoked', 'A revoked key.', pinned({ status: 'revoked' }), 'webhook_key_revoked'],
  ]
}

/** The signature is valid, but covers something else than the profile requires. */
export async function wronglySigned(parts: Delivery): Promise<Refused[]> {
  const [created = '', expires = '', keyid = '', alg = '', tag = ''] = parts.parameters
  const input = async (change: Partial<Delivery>) => (await sign({ ...parts, ...change })).input
  const named = (...list: string[]) => input({ parameters: list })
  const [method = '', authority = '', ...others] = parts.components
  return [
    [
      'component-left-out',
      'The path is not covered.',
      await input({ components: parts.components.filter((name) => name !== '@path') }),
      'webhook_components',
    ],
    [
      'components-reordered',
      'The eight components in another order.',
      await input({ components: [authority, method, ...others] }),
      'webhook_components',
    ],
    ['keyid-missing', 'No keyid.', await named(created, expires, alg, tag), 'webhook_key_missing'],
    ['expires-missing', 'No expires.', await named(created, keyid, alg, tag), 'webhook_parameters'],
    ['parameter-added', 'A nonce.', await named(...parts.parameters, 'nonce="n"'), 'webhook_parameters'],
    [
      'other-algorithm',
      'Another alg.',
      await named(created, expires, keyid, 'alg="ed25519"', tag),
      'webhook_algorithm',
    ],
    ['other-tag', 'Another tag.', await named(created, expires, keyid, alg, 'tag="other"'), 'webhook_tag'],
    [
      'lives-too-long',
      'A life of 301 seconds.',
      await input({ parameters: parameters({ lifetime: 301 }) }),
      'webhook_lifetime',
    ],
    [
      'never-lives',
      'It expires when it is made.',
      await input({ parameters: parameters({ lifetime: 0 }) }),
      'webhook_lifetime',
    ],
    [
      'other-event-id',
      'The field names another event than the body.',
      await input({ eventId: 'evt_other' }),
      'webhook_event_id',
    ],
    [
      'other-digest',
      'A signed digest without sha-256.',
      await input({ contentDigest: `sha-512=:${Buffer.alloc(64).toString('base64')}:` }),
      'digest_missing',
    ],
  ]
}
