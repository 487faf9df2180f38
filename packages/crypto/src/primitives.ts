import type { PrivateJwk, PublicJwk } from './jwk-shape.ts'

/** Checks a raw 64-byte r||s over SHA-256 of the data. Answers false, and never throws, for a mismatch. */
export type Verifier = (data: Uint8Array, signature: Uint8Array) => Promise<boolean>
/** Makes a raw 64-byte r||s over SHA-256 of the data. */
export type Signer = (data: Uint8Array) => Promise<Uint8Array>

export type Base64Alphabet = 'base64' | 'base64url'

/**
 * What the runtime does for us: a key is imported once and lives on inside the function that uses it.
 * `primitives-node.ts` and `primitives-web.ts` both provide this; package.json picks one as `#primitives`.
 * Encryption needs no row here: jose runs it on WebCrypto in either runtime.
 */
export interface Primitives {
  sha256(data: Uint8Array | string): Promise<Uint8Array>
  importVerifier(jwk: PublicJwk): Promise<Verifier>
  importSigner(jwk: PrivateJwk): Promise<Signer>
  toBase64(bytes: Uint8Array, alphabet: Base64Alphabet): string
  /** May be lenient: `base64.ts` compares with the encoding again. Undefined where nothing can be read. */
  fromBase64(text: string, alphabet: Base64Alphabet): Uint8Array | undefined
}
