import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto'
import { derFromRaw, rawFromDer } from './es256-der.ts'
import type { PrivateJwk, PublicJwk } from './jwk-shape.ts'
import type { Base64Alphabet, Signer, Verifier } from './primitives.ts'

// Of node:crypto's forms, DER is the quickest (bench: "ES256 ways"): `dsaEncoding: 'ieee-p1363'` costs at least a third
// more per verification and about twice the signing time, so r||s is converted by hand. Both run where they are called:
// handing a signature to another thread and back costs most of what checking it costs. Only data that takes longer to
// hash than that goes to the thread pool, so that nobody waits for it.
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

export function toBase64(bytes: Uint8Array, alphabet: Base64Alphabet): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(alphabet)
}

export function fromBase64(text: string, alphabet: Base64Alphabet): Uint8Array | undefined {
  return plain(Buffer.from(text, alphabet))
}

/** The same memory without Buffer's methods, which differ from Uint8Array's. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
