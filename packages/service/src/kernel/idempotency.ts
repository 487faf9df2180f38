import { hash, timingSafeEqual } from 'node:crypto'
import { canonicalize, type Envelope } from '@agent-exchange/crypto'
import type { DeploymentProfile, OperationId } from '@agent-exchange/protocol'

/** O-21: what an idempotency key is unique within, beside the organization. */
export function idempotencyScope(operation: OperationId, params: object, profile: DeploymentProfile): string {
  if (profile['O-21'].scope === 'operation') return operation
  return [operation, ...Object.values(params).map((value) => encodeURIComponent(String(value)))].join('/')
}

/** API-05: content is path parameters plus RFC 8785 of the body. */
export function contentHash({
  params,
  body,
}: {
  readonly params: unknown
  readonly body: unknown
}): Uint8Array {
  return hash('sha256', canonicalize([params, body]), 'buffer')
}

/** The same for an envelope that was read: base64url needs no escape, so RFC 8785 is a matter of putting it together. */
export function envelopeHash(
  params: unknown,
  { payload, protected: header, signature }: Envelope,
): Uint8Array {
  const body = `{"payload":"${payload}","protected":"${header}","signature":"${signature}"}`
  return hash('sha256', `[${canonicalize(params)},${body}]`, 'buffer')
}

export function sameContent(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
