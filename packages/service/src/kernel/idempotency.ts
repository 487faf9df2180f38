import { hash, timingSafeEqual } from 'node:crypto'
import { canonicalize, type ParsedEnvelope } from '@agent-exchange/crypto'
import type { DeploymentProfile, OperationId } from '@agent-exchange/protocol'

/** O-21: within its organization, an idempotency key is unique per scope. */
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

/**
 * The same for a parsed envelope: the signing input covers two of its three members, the signature is the third. The
 * signing input already exists as bytes, so that the long body need not be canonicalized.
 */
export function envelopeHash(
  params: unknown,
  { signingInput, text: { signature } }: Pick<ParsedEnvelope, 'signingInput' | 'text'>,
): Uint8Array {
  const signed = hash('sha256', signingInput, 'hex')
  return hash('sha256', canonicalize([params, signed, signature]), 'buffer')
}

export function sameContent(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
