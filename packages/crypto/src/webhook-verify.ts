import { DEFAULT_PROFILE, HEADER, WEBHOOK_SIGNATURE } from '@agent-exchange/protocol'
import type { UntrustedSignatureCandidate } from 'http-message-sig'
import { encodeBase64 } from './base64.ts'
import { digestsEqual, parseContentDigest, sha256Digest } from './digest.ts'
import { CryptoError } from './errors.ts'
import { SIGNATURE_LENGTH, verifyEs256 } from './es256.ts'
import type { PublicKey } from './keys.ts'
import { type JsonValue, parseStrictJson } from './strict-json.ts'
import {
  type FieldName,
  fieldValue,
  type HeaderFields,
  readTarget,
  SIGNED_FIELDS,
} from './webhook-request.ts'
import { readSignature } from './webhook-signature.ts'

export interface WebhookRequest {
  readonly method: string
  /** The full URL that the sender used, not the one behind a proxy. */
  readonly url: string
  readonly headers: HeaderFields
  /** The exact bytes received. */
  readonly body: Uint8Array
}

/** A pinned key of the notification key directory. */
export interface WebhookKey {
  readonly publicKey: PublicKey
  /** `active` and `retiring` may sign; `revoked` has its own error; any other status counts as retired. */
  readonly status: string
  readonly valid_from: string
  readonly valid_until?: string | null
}

export interface WebhookVerification {
  readonly keys: (keyId: string) => WebhookKey | undefined | Promise<WebhookKey | undefined>
  readonly now: Date
  /** Tolerated clock skew; defaults to that of the default profile (O-49). */
  readonly clockSkewSeconds?: number
}

export interface VerifiedWebhook {
  readonly keyId: string
  readonly deliveryId: string
  readonly eventId: string
  readonly attempt: number
  /** The body, parsed strictly; its schema is validated elsewhere. */
  readonly event: JsonValue
}

type Candidate = UntrustedSignatureCandidate
interface Clock {
  readonly seconds: number
  readonly skew: number
}

/**
 * EVT-05, EVT-14: verifies a delivery before it is stored. The steps follow the order of the rejection rules of the
 * profile; each has its own error code and advice.
 *
 * @example
 * const { eventId, event } = await verifyWebhook(
 *   { method: 'POST', url: 'https://agent.example/hooks', headers: request.headersDistinct, body },
 *   { keys: (keyId) => pinned.get(keyId), now: new Date() },
 * )
 */
export async function verifyWebhook(
  request: WebhookRequest,
  { keys, now, clockSkewSeconds = DEFAULT_PROFILE['O-49'].webhook_seconds }: WebhookVerification,
): Promise<VerifiedWebhook> {
  const clock: Clock = { seconds: now.getTime() / 1_000, skew: clockSkewSeconds }
  const fields = readFields(request.headers)
  const { href } = readTarget(request.url)
  const named = [...fields].map(([name, value]) => ({ name, value }))
  const { candidate, base } = await readSignature({ method: request.method, href, fields: named })

  checkComponents(candidate)
  const { keyid, created, expires } = readParameters(candidate)
  const publicKey = usableKey(await keys(keyid), clock)
  checkTimeWindow(created, expires, clock)
  checkSignatureEncoding(candidate, field(fields, 'signature'))
  if (!(await verifyEs256(publicKey, base, candidate.signature))) {
    throw new CryptoError('webhook_signature_mismatch', { signatureBase: new TextDecoder().decode(base) })
  }
  await checkBodyDigest(request.body, field(fields, 'content-digest'))
  const eventId = field(fields, HEADER.eventId)
  const event = readEvent(request.body, eventId)

  return {
    keyId: keyid,
    deliveryId: field(fields, HEADER.deliveryId),
    eventId,
    attempt: Number(field(fields, HEADER.deliveryAttempt)),
    event,
  }
}

/** A required component is missing. */
function readFields(headers: HeaderFields): Map<FieldName, string> {
  const fields = new Map<FieldName, string>()
  for (const name of [...SIGNED_FIELDS, 'signature-input', 'signature'] as const) {
    const value = fieldValue(headers, name)
    if (value === undefined) throw new CryptoError('webhook_component_missing', { at: name })
    fields.set(name, value)
  }
  return fields
}

function field(fields: ReadonlyMap<FieldName, string>, name: FieldName): string {
  return fields.get(name) ?? ''
}

/** The eight components in order, without parameters that would change their meaning. */
function checkComponents({ components }: Candidate): void {
  const expected = WEBHOOK_SIGNATURE.components
  const exact =
    components.length === expected.length &&
    components.every(
      ({ name, parameters }, i) => name === expected[i] && Object.keys(parameters).length === 0,
    )
  if (!exact) throw new CryptoError('webhook_components')
}

/** Exactly the five parameters of the profile; a missing keyid has its own error. */
function readParameters({ parameters }: Candidate): { keyid: string; created: number; expires: number } {
  const { created, expires, keyid, alg, tag, ...others } = parameters
  if (created === undefined || expires === undefined || Object.keys(others).length > 0) {
    throw new CryptoError('webhook_parameters')
  }
  if (alg === undefined || tag === undefined) throw new CryptoError('webhook_parameters')
  if (alg !== WEBHOOK_SIGNATURE.algorithm) throw new CryptoError('webhook_algorithm')
  if (tag !== WEBHOOK_SIGNATURE.tag) throw new CryptoError('webhook_tag')
  if (keyid === undefined) throw new CryptoError('webhook_key_missing')
  return { keyid, created, expires }
}

/** The keyid is unknown, revoked, not yet valid or retired. Revoked comes first, because it needs an action. */
function usableKey(key: WebhookKey | undefined, { seconds, skew }: Clock): PublicKey {
  if (key === undefined) throw new CryptoError('webhook_key_unknown')
  // A comparison with an unreadable date is false, so each condition is written to refuse in that case.
  const started = Date.parse(key.valid_from) / 1_000 <= seconds + skew
  if (!started) throw new CryptoError('webhook_key_not_yet_valid')
  if (key.status === 'revoked') throw new CryptoError('webhook_key_revoked')
  const until = key.valid_until ?? undefined
  const running = until === undefined || seconds - skew < Date.parse(until) / 1_000
  const signs = key.status === 'active' || key.status === 'retiring'
  if (!running || !signs) throw new CryptoError('webhook_key_retired')
  return key.publicKey
}

/** The signature is outside its time window, or the window is wider than the profile allows. */
function checkTimeWindow(created: number, expires: number, { seconds, skew }: Clock): void {
  const lifetime = expires - created
  if (lifetime < 1 || lifetime > WEBHOOK_SIGNATURE.maximumLifetimeSeconds)
    throw new CryptoError('webhook_lifetime')
  if (created > seconds + skew) throw new CryptoError('webhook_created_in_future')
  if (expires < seconds - skew) throw new CryptoError('webhook_expired')
}

/** Structured fields allow lenient parsing (RFC 9651 section 4.2.7); a signature has one encoding here. */
function checkSignatureEncoding({ signature }: Candidate, raw: string): void {
  const spelled = raw.includes(`:${encodeBase64(signature)}:`)
  if (signature.length !== SIGNATURE_LENGTH || !spelled) throw new CryptoError('webhook_signature_encoding')
}

async function checkBodyDigest(body: Uint8Array, contentDigest: string): Promise<void> {
  const claimed = parseContentDigest(contentDigest)
  if (!digestsEqual(claimed, await sha256Digest(body))) throw new CryptoError('webhook_body_digest')
}

/** The header event id differs from the body event_id. */
function readEvent(body: Uint8Array, eventId: string): JsonValue {
  const event = parseStrictJson(body, { at: 'body' })
  const named =
    typeof event === 'object' && event !== null && 'event_id' in event ? event.event_id : undefined
  if (named !== eventId) throw new CryptoError('webhook_event_id')
  return event
}
