import { sha256Digest, signEs256 } from '@agent-exchange/crypto'
import {
  HEADER,
  MEDIA_TYPE,
  type NotificationEnvelope,
  type PublicKey,
  WEBHOOK_SIGNATURE,
} from '@agent-exchange/protocol'
import { utf8 } from '../profiles/profile.ts'
import { KEY, privateKey, publicJwk } from '../test-keys.ts'

/** A signed delivery; a vector can replace each part before signing. */
export interface Delivery {
  readonly url: string
  readonly body: string
  readonly eventId: string
  readonly attempt: number
  readonly contentDigest: string
  readonly components: readonly string[]
  /** Signature parameters in the order of Signature-Input. */
  readonly parameters: readonly string[]
}

export interface WebhookInput {
  readonly request: { method: string; url: string; headers: [string, string][]; body: string }
  readonly pinned_keys: readonly PublicKey[]
  readonly now: string
}

const CREATED = 1_772_438_402
const NOW = '2026-03-02T08:00:02Z'

export const PINNED: PublicKey = {
  key_id: KEY.platformWebhook,
  use: 'signing',
  format: 'jwk',
  public_key: publicJwk(KEY.platformWebhook),
  valid_from: '2026-01-01T00:00:00Z',
  valid_until: '2027-01-01T00:00:00Z',
  status: 'active',
  registered_at: '2025-12-15T00:00:00Z',
}

export function parameters({ created = CREATED, lifetime = 300 } = {}): string[] {
  const { algorithm, tag } = WEBHOOK_SIGNATURE
  return [
    `created=${created}`,
    `expires=${created + lifetime}`,
    `keyid="${KEY.platformWebhook}"`,
    `alg="${algorithm}"`,
    `tag="${tag}"`,
  ]
}

export async function delivery(notification: NotificationEnvelope): Promise<Delivery> {
  const body = JSON.stringify(notification)
  return {
    url: 'https://agent.carmaker.example/hooks/exchange',
    body,
    eventId: notification.event_id,
    attempt: 1,
    contentDigest: await sha256Digest(utf8(body)),
    components: WEBHOOK_SIGNATURE.components,
    parameters: parameters(),
  }
}

export interface SignedDelivery {
  readonly input: WebhookInput
  readonly signatureBase: string
  readonly signature: Uint8Array
}

/** Follows RFC 9421 section 2.5, independently of the signer of our packages. */
export async function sign(parts: Delivery): Promise<SignedDelivery> {
  const url = new URL(parts.url)
  const values: Record<string, string> = {
    '@method': 'POST',
    '@authority': url.host,
    '@path': url.pathname,
    'content-digest': parts.contentDigest,
    'content-type': MEDIA_TYPE.json,
    [HEADER.deliveryId]: 'dlv_seat_rails_1',
    [HEADER.eventId]: parts.eventId,
    [HEADER.deliveryAttempt]: String(parts.attempt),
  }
  const list = `(${parts.components.map((name) => `"${name}"`).join(' ')})`
  const signatureParameters = [list, ...parts.parameters].join(';')
  const lines = parts.components.map((name) => `"${name}": ${values[name]}`)
  const signatureBase = [...lines, `"@signature-params": ${signatureParameters}`].join('\n')
  const signature = await signEs256(await privateKey(KEY.platformWebhook), utf8(signatureBase))
  const fields = Object.entries(values).filter(([name]) => !name.startsWith('@'))
  const headers: [string, string][] = [
    ...fields,
    ['Signature-Input', `sig1=${signatureParameters}`],
    ['Signature', `sig1=:${Buffer.from(signature).toString('base64')}:`],
  ]
  const request = { method: 'POST', url: parts.url, headers, body: parts.body }
  return { input: { request, pinned_keys: [PINNED], now: NOW }, signatureBase, signature }
}
