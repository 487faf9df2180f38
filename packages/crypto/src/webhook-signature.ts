import { WEBHOOK_SIGNATURE } from '@agent-exchange/protocol'
import {
  isSignatureError,
  SignatureErrorCode,
  type UntrustedSignatureCandidate,
  verifySignature,
} from 'http-message-sig'
import { CryptoError, type CryptoErrorCode } from './errors.ts'

export interface WebhookSignature {
  readonly candidate: UntrustedSignatureCandidate
  /** The signature base of this request (RFC 9421 section 2.5). */
  readonly base: Uint8Array
}

interface SignedRequest {
  readonly method: string
  readonly href: string
  readonly fields: readonly { readonly name: string; readonly value: string }[]
}

/**
 * Parses the signature with the label sig1 and builds its base. The library is strict about duplicate labels and
 * parameters. Its policy checks are disabled, because webhook-verify.ts checks each rule with its own error code. The
 * result is not yet trusted.
 */
export async function readSignature({ method, href, fields }: SignedRequest): Promise<WebhookSignature> {
  const read: { candidate?: UntrustedSignatureCandidate; base?: Uint8Array } = {}
  const { algorithm, label } = WEBHOOK_SIGNATURE
  try {
    await verifySignature(
      { kind: 'request', method, targetUri: href, fields },
      {
        label,
        policy: {
          algorithms: [algorithm],
          requiredComponents: [],
          requiredParameters: [],
          now: 0,
          clockSkew: Number.MAX_SAFE_INTEGER,
        },
        resolveVerifier: (candidate) => {
          read.candidate = candidate
          return {
            algorithm,
            verify: (base) => {
              read.base = base
              return true
            },
          }
        },
      },
    )
  } catch (cause) {
    throw new CryptoError(isSignatureError(cause) ? CODES[cause.code] : 'webhook_signature_malformed')
  }
  const { candidate, base } = read
  if (candidate === undefined || base === undefined) throw new CryptoError('webhook_signature_malformed')
  return { candidate, base }
}

/** The remaining errors of the library. Its messages contain input and are dropped. */
const CODES: Readonly<Record<SignatureErrorCode, CryptoErrorCode>> = {
  [SignatureErrorCode.LabelMismatch]: 'webhook_label',
  [SignatureErrorCode.LabelRequired]: 'webhook_label',
  [SignatureErrorCode.MissingField]: 'webhook_components',
  [SignatureErrorCode.InvalidComponent]: 'webhook_components',
  [SignatureErrorCode.DuplicateComponent]: 'webhook_components',
  [SignatureErrorCode.UnsupportedFeature]: 'webhook_components',
  [SignatureErrorCode.PolicyViolation]: 'webhook_algorithm',
  [SignatureErrorCode.AlgorithmMismatch]: 'webhook_algorithm',
  [SignatureErrorCode.DuplicateLabel]: 'webhook_signature_malformed',
  [SignatureErrorCode.MalformedField]: 'webhook_signature_malformed',
  [SignatureErrorCode.VerificationFailed]: 'webhook_signature_malformed',
  [SignatureErrorCode.ResolverFailed]: 'webhook_signature_malformed',
}
