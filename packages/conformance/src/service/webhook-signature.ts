import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { holds, same } from '../run/expect.ts'
import type { ReceivedWebhook } from './webhook-receiver.ts'

/** RFC 9421 as the protocol narrows it, written out here so that no other verifier has to be trusted. */
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
const LABEL = /^sig1=(?<parameters>\((?<components>[^)]*)\)(?<rest>(?:;[a-z]+=(?:"[^"]*"|\d+))+))$/u
const MAXIMUM_LIFETIME_SECONDS = 300
/** Clocks may differ by this much (O-49). */
const TOLERANCE_SECONDS = 60
const RAW_SIGNATURE_BYTES = 64

export interface SigningKey {
  readonly keyId: string
  readonly jwk: object
}

/** Throws a finding at the first rule that the webhook breaks. */
export function requireSigned(webhook: ReceivedWebhook, key: SigningKey, now: string): void {
  const { headers, body } = webhook
  same(webhook.method, 'POST', 'the method of a webhook')
  const input = LABEL.exec(headers['signature-input'] ?? '')?.groups
  holds(input !== undefined, `Signature-Input of a webhook is ${headers['signature-input'] ?? 'missing'}`)
  same(
    input['components'],
    COMPONENTS.map((each) => `"${each}"`).join(' '),
    'the covered components of a webhook',
  )
  const parameters = parametersOf(input['rest'] ?? '')
  same(parameters['alg'], 'ecdsa-p256-sha256', 'alg of a webhook signature')
  same(parameters['tag'], 'svc-webhook', 'tag of a webhook signature')
  same(parameters['keyid'], key.keyId, 'keyid of a webhook signature')
  const [created, expires] = [Number(parameters['created']), Number(parameters['expires'])]
  const lifetime = expires - created
  holds(lifetime > 0 && lifetime <= MAXIMUM_LIFETIME_SECONDS, `a webhook signature lives ${lifetime} s`)
  const seconds = Date.parse(now) / 1_000
  const isNow = created <= seconds + TOLERANCE_SECONDS && expires >= seconds - TOLERANCE_SECONDS
  holds(isNow, 'a webhook signature is outside its time window')
  const digest = createHash('sha256').update(body).digest('base64')
  same(headers['content-digest'], `sha-256=:${digest}:`, 'Content-Digest of a webhook')
  const encoded = /^sig1=:(?<bytes>[A-Za-z0-9+/=]+):$/u.exec(headers['signature'] ?? '')?.groups?.['bytes']
  holds(encoded !== undefined, 'a webhook has no signature with the label sig1')
  const signature = Buffer.from(encoded, 'base64')
  same(signature.length, RAW_SIGNATURE_BYTES, 'bytes of a webhook signature')
  const publicKey = createPublicKey({ key: key.jwk as JsonWebKey, format: 'jwk' })
  const base = Buffer.from(signatureBase(webhook, input['parameters'] ?? ''))
  holds(
    verify('sha256', base, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature),
    'the signature of a webhook does not verify',
  )
}

function parametersOf(rest: string): Record<string, string> {
  const pairs = [...rest.matchAll(/;([a-z]+)=(?:"([^"]*)"|(\d+))/gu)]
  return Object.fromEntries(pairs.map(([, name = '', quoted, digits]) => [name, quoted ?? digits ?? '']))
}

/** RFC 9421 section 2.5. */
function signatureBase({ method, authority, path, headers }: ReceivedWebhook, parameters: string): string {
  const derived: Readonly<Record<string, string>> = {
    '@method': method,
    '@authority': authority.toLowerCase(),
    '@path': path.split('?', 1)[0] ?? '',
  }
  const lines = COMPONENTS.map((each) => `"${each}": ${derived[each] ?? headers[each] ?? ''}`)
  return [...lines, `"@signature-params": ${parameters}`].join('\n')
}
