import { hash, timingSafeEqual } from 'node:crypto'
import { canonicalize, CryptoError, type ParsedEnvelope } from '@agent-exchange/crypto'
import {
  nativePackageBody,
  validatorOf,
  type DeploymentProfile,
  type OperationId,
} from '@agent-exchange/protocol'

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

/** The hash of content that may be invalid; undefined if it cannot be that of an accepted request. */
export function submittedHash({
  params,
  body,
}: {
  readonly params: unknown
  readonly body: unknown
}): Uint8Array | undefined {
  try {
    if (!validatorOf(nativePackageBody).accepts(body)) return contentHash({ params, body })
    const signingInput = Buffer.from(`${body.protected}.${body.payload}`)
    return envelopeHash(params, { signingInput, text: body })
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

export function sameContent(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
