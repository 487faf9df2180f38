import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto'
import { derFromRaw, rawFromDer } from './es256-der.ts'
import type { PrivateJwk, PublicJwk } from './jwk-shape.ts'
import type { Base64Alphabet, Signer, Verifier } from './primitives.ts'

// DER is the fastest encoding of node:crypto (npm run bench -- --area es256-apis), so r||s is converted by hand. Signatures
// run on the event loop, because the thread pool adds most of the cost of a verification. Only data that takes longer to
// hash uses the thread pool.
const LONGEST_ON_THIS_THREAD = 262_144

export async function importVerifier(jwk: PublicJwk): Promise<Verifier> {
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  return async (data, signature) => {
    if (data.length <= LONGEST_ON_THIS_THREAD) return verify('sha256', data, key, derFromRaw(signature))
    return new Promise((resolve, reject) => {
      verify('sha256', data, key, derFromRaw(signature), (error, valid) => {
        if (error === null) resolve(valid)
        else reject(error)
      })
    })
  }
}

export async function importSigner(jwk: PrivateJwk): Promise<Signer> {
  const key = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  return async (data) => rawFromDer(sign('sha256', data, key))
}

export async function sha256(data: Uint8Array | string): Promise<Uint8Array> {
  return plain(hash('sha256', data, 'buffer'))
}

export function sha256Sync(data: Uint8Array): Uint8Array {
  return plain(hash('sha256', data, 'buffer'))
}

export function toBase64(bytes: Uint8Array, alphabet: Base64Alphabet): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(alphabet)
}

export function fromBase64(text: string, alphabet: Base64Alphabet): Uint8Array | undefined {
  return plain(Buffer.from(text, alphabet))
}

/** The same memory as Uint8Array, because some methods of Buffer differ. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
