import type { PrivateJwk, PublicJwk } from './jwk-shape.ts'

/** Verifies a raw 64-byte r||s over SHA-256 of the data. Returns false for a mismatch and never throws. */
export type Verifier = (data: Uint8Array, signature: Uint8Array) => Promise<boolean>
/** Creates a raw 64-byte r||s over SHA-256 of the data. */
export type Signer = (data: Uint8Array) => Promise<Uint8Array>

export type Base64Alphabet = 'base64' | 'base64url'

/**
 * Primitives of the runtime. A key is imported once and captured by the function that uses it. `primitives-node.ts` and
 * `primitives-web.ts` implement this interface, and package.json selects one as `#primitives`. Encryption is not included,
 * because jose uses WebCrypto in both runtimes.
 */
export interface Primitives {
  sha256(data: Uint8Array | string): Promise<Uint8Array>
  /** For Merkle trees, which hash many small inputs. */
  sha256Sync(data: Uint8Array): Uint8Array
  importVerifier(jwk: PublicJwk): Promise<Verifier>
  importSigner(jwk: PrivateJwk): Promise<Signer>
  toBase64(bytes: Uint8Array, alphabet: Base64Alphabet): string
  /** May be lenient, because `base64.ts` compares the result with its encoding. Undefined for unreadable text. */
  fromBase64(text: string, alphabet: Base64Alphabet): Uint8Array | undefined
}
