import { createHash } from 'node:crypto'
import { signEs256 } from '@agent-exchange/crypto'
import type { WebhookKey } from './webhook-keys.ts'

/** A webhook as it goes over the wire. */
export interface SignedWebhook {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Deviations from a right webhook. What follows from them is computed, so that only one rule breaks. */
export interface WebhookDeviation {
  readonly body?: string
  /** Sent instead of the signed body. */
  readonly bodyAfterwards?: string
  readonly deliveryId?: string
  readonly attempt?: number
  readonly eventId?: string
  readonly contentDigest?: string
  readonly createdAgo?: number
  readonly lifetime?: number
  /** Not covered by the signature. */
  readonly uncovered?: string
  /** Changes the parameters before they are signed. */
  readonly parameters?: (parameters: string) => string
  readonly label?: string
  readonly signature?: (signature: Buffer) => Buffer
  /** Header fields that are removed or replaced after signing. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Signs for another address than the one that is delivered to. */
  readonly signedUrl?: string
}

/** In the order of the specification. */
export const COMPONENTS = [
  '@method',
  '@authority',
  '@path',
  'content-digest',
  'content-type',
  'svc-delivery-id',
  'svc-event-id',
  'svc-delivery-attempt',
]
const LIFETIME_SECONDS = 300

/** RFC 9421 and RFC 9530 as the protocol narrows them, written out here so that no other signer has to be right. */
export async function signedWebhook(
  url: string,
  event: { readonly event_id: string },
  key: WebhookKey,
  deviation: WebhookDeviation = {},
): Promise<SignedWebhook> {
  const body = deviation.body ?? JSON.stringify(event)
  const digest = createHash('sha256').update(body).digest('base64')
  const fields: Record<string, string> = {
    'content-digest': deviation.contentDigest ?? `sha-256=:${digest}:`,
    'content-type': 'application/json',
    'svc-delivery-id': deviation.deliveryId ?? `dlv_${event.event_id}`,
    'svc-event-id': deviation.eventId ?? event.event_id,
    'svc-delivery-attempt': String(deviation.attempt ?? 1),
  }
  const { host, pathname } = new URL(deviation.signedUrl ?? url)
  const values: Record<string, string> = {
    '@method': 'POST',
    '@authority': host,
    '@path': pathname,
    ...fields,
  }
  const covered = COMPONENTS.filter((name) => name !== deviation.uncovered)
  const created = Math.floor(Date.now() / 1_000) - (deviation.createdAgo ?? 0)
  const expires = created + (deviation.lifetime ?? LIFETIME_SECONDS)
  const list = covered.map((name) => `"${name}"`).join(' ')
  const usual = `(${list});created=${created};expires=${expires};keyid="${key.keyId}";alg="ecdsa-p256-sha256";tag="svc-webhook"`
  const parameters = deviation.parameters?.(usual) ?? usual
  const base = [
    ...covered.map((name) => `"${name}": ${values[name]}`),
    `"@signature-params": ${parameters}`,
  ].join('\n')
  const raw = Buffer.from(await signEs256(key.pair.privateKey, new TextEncoder().encode(base)))
  const signature = deviation.signature?.(raw) ?? raw
  const label = deviation.label ?? 'sig1'
  const headers = {
    ...fields,
    'signature-input': `${label}=${parameters}`,
    signature: `${label}=:${signature.toString('base64')}:`,
    ...deviation.headers,
  }
  const sent = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { url, headers: Object.fromEntries(sent), body: deviation.bodyAfterwards ?? body }
}
