import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import type { PrivateJwk, PublicJwk } from './jwk-shape.ts'
import type { Base64Alphabet, Signer, Verifier } from './primitives.ts'

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }
const ES256 = { name: 'ECDSA', hash: 'SHA-256' }
/** Limits the arguments per call to what engines accept. */
const CHUNK = 8_192

export async function importVerifier(jwk: PublicJwk): Promise<Verifier> {
  const key = await crypto.subtle.importKey('jwk', { ...jwk }, CURVE, false, ['verify'])
  return (data, signature) => crypto.subtle.verify(ES256, key, signature, data)
}

export async function importSigner(jwk: PrivateJwk): Promise<Signer> {
  const key = await crypto.subtle.importKey('jwk', { ...jwk }, CURVE, false, ['sign'])
  return async (data) => new Uint8Array(await crypto.subtle.sign(ES256, key, data))
}

export async function sha256(data: Uint8Array | string): Promise<Uint8Array> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

// WebCrypto hashes asynchronously only, which a Merkle proof of thousands of small hashes cannot afford.
export function sha256Sync(data: Uint8Array): Uint8Array {
  return nobleSha256(data)
}

export function toBase64(bytes: Uint8Array, alphabet: Base64Alphabet): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += CHUNK) binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK))
  const text = btoa(binary)
  return alphabet === 'base64' ? text : text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export function fromBase64(text: string, alphabet: Base64Alphabet): Uint8Array | undefined {
  const standard = alphabet === 'base64' ? text : text.replaceAll('-', '+').replaceAll('_', '/')
  try {
    return Uint8Array.from(atob(standard), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
