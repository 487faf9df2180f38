import { HEADER, MEDIA_TYPE, WEBHOOK_SIGNATURE } from '@agent-exchange/protocol'
import { encodeBase64 } from './base64.ts'
import { sha256Digest } from './digest.ts'
import { CryptoError } from './errors.ts'
import { signEs256 } from './es256.ts'
import type { PrivateKey } from './keys.ts'
import { COMPONENT_LIST, readTarget } from './webhook-request.ts'

export interface WebhookDelivery {
  readonly method?: string
  readonly url: string
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array
  readonly deliveryId: string
  readonly eventId: string
  readonly attempt: number
  readonly contentType?: string
}

export interface WebhookSigning {
  readonly key: PrivateKey
  readonly keyId: string
  /** The time of signing, truncated to seconds. */
  readonly created: Date
  readonly lifetimeSeconds?: number
}

export type WebhookHeaders = Readonly<
  Record<
    | 'Content-Digest'
    | 'Content-Type'
    | 'Signature'
    | 'Signature-Input'
    | (typeof HEADER)['deliveryId' | 'eventId' | 'deliveryAttempt'],
    string
  >
>

const encoder = new TextEncoder()

/** Characters allowed in a field value and in a structured string (RFC 9651 section 3.3.3). */
const VISIBLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/**
 * EVT-05: the header fields of one delivery attempt. Each attempt has its own signature.
 *
 * The signature base consists of eight fixed lines, so it is written here for speed; `verifyWebhook` parses it with
 * http-message-sig.
 *
 * @example
 * const headers = await signWebhook(delivery, { key, keyId: 'key_n1', created: now })
 */
export async function signWebhook(
  delivery: WebhookDelivery,
  signing: WebhookSigning,
): Promise<WebhookHeaders> {
  return (await signWebhookBase(delivery, signing)).headers
}

/** Like signWebhook, with the signature base (RFC 9421 section 2.5), to explain a refused signature. */
export async function signWebhookBase(
  delivery: WebhookDelivery,
  signing: WebhookSigning,
): Promise<{ headers: WebhookHeaders; signatureBase: string }> {
  const { method = 'POST', contentType = MEDIA_TYPE.json, deliveryId, eventId, attempt } = delivery
  const { authority, path } = readTarget(delivery.url)
  const contentDigest = await sha256Digest(delivery.body)
  const values = [method, authority, path, contentDigest, contentType, deliveryId, eventId, String(attempt)]
  if (!values.every((value) => VISIBLE.test(value))) throw new CryptoError('webhook_value')
  const parameters = signatureParameters(signing)
  const lines = WEBHOOK_SIGNATURE.components.map((name, i) => `"${name}": ${values[i]}`)
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n')
  const signature = await signEs256(signing.key, encoder.encode(base))
  const headers = {
    'Content-Digest': contentDigest,
    'Content-Type': contentType,
    [HEADER.deliveryId]: deliveryId,
    [HEADER.eventId]: eventId,
    [HEADER.deliveryAttempt]: String(attempt),
    'Signature-Input': `${WEBHOOK_SIGNATURE.label}=${parameters}`,
    Signature: `${WEBHOOK_SIGNATURE.label}=:${encodeBase64(signature)}:`,
  }
  return { headers, signatureBase: base }
}

function signatureParameters({ keyId, created, lifetimeSeconds }: WebhookSigning): string {
  const { algorithm, tag, maximumLifetimeSeconds } = WEBHOOK_SIGNATURE
  const lifetime = lifetimeSeconds ?? maximumLifetimeSeconds
  if (!Number.isInteger(lifetime) || lifetime < 1 || lifetime > maximumLifetimeSeconds) {
    throw new CryptoError('webhook_lifetime')
  }
  if (!VISIBLE.test(keyId)) throw new CryptoError('webhook_value', { at: 'keyid' })
  const from = Math.floor(created.getTime() / 1_000)
  const quoted = keyId.replace(/["\\]/g, '\\$&')
  return `${COMPONENT_LIST};created=${from};expires=${from + lifetime};keyid="${quoted}";alg="${algorithm}";tag="${tag}"`
}
