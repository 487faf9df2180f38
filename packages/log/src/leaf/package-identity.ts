import { CryptoError, parseDigest, signatureBytes } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'

/** What identifies a package in the log: known to its two parties, and to nobody who sees their notifications. */
export interface PackageIdentity {
  readonly packageId: string
  /** In the protocol's form, `sha-256=:BASE64:`. */
  readonly contentDigest: string
  /** The signature of the package's policy receipt: raw r and s, in base64url or base64. */
  readonly receiptSignature: string
}

/** A signature has a second form with the same `r` and another `s`, so only `r` may identify it. */
const R_LENGTH = 32

export function rOfSignature(text: string): Uint8Array {
  return readable(() => signatureBytes({ signature: text })).subarray(0, R_LENGTH)
}

export function readDigest(text: string): Uint8Array {
  return readable(() => parseDigest(text))
}

function readable(read: () => Uint8Array): Uint8Array {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof CryptoError) throw new LogError('leaf_field', { cause })
    throw cause
  }
}
