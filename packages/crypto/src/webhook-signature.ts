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
  /** What the signature must cover, as RFC 9421 section 2.5 builds it from this request. */
  readonly base: Uint8Array
}

interface SignedRequest {
  readonly method: string
  readonly href: string
  readonly fields: readonly { readonly name: string; readonly value: string }[]
}

/**
 * Reads the signature labelled sig1 and builds its base. The library does both strictly (repeated labels
 * and parameters refused); its own policy is left wide open, because the steps that judge what was read,
 * each with its own code, are in webhook-verify.ts. Nothing is trusted yet when this returns.
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

/** With its policy open, the library has only these reasons left; its messages quote input and are dropped. */
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
