import { decodeBase64url } from '@agent-exchange/crypto'
import { concatBytes, fromHex } from '../bytes.ts'

/** WebCrypto has Ed25519 in Node 24 and in every current browser; one checkpoint needs a handful of signatures. */
const ED25519 = 'Ed25519'
export const ED25519_KEY_LENGTH = 32
export const ED25519_SIGNATURE_LENGTH = 64

/** RFC 8410: the DER of a PKCS #8 key, up to the 32 bytes of the seed. */
const PKCS8_PREFIX = fromHex('302e020100300506032b657004220420') as Uint8Array

export type Ed25519Sign = (message: Uint8Array) => Promise<Uint8Array>

export async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', copy(publicKey), ED25519, false, ['verify'])
  return crypto.subtle.verify(ED25519, key, copy(signature), copy(message))
}

/** A signing function and its public key, from the 32-byte seed of RFC 8032. */
export async function importSeed(seed: Uint8Array): Promise<{ publicKey: Uint8Array; sign: Ed25519Sign }> {
  const key = await crypto.subtle.importKey('pkcs8', copy(concatBytes(PKCS8_PREFIX, seed)), ED25519, true, [
    'sign',
  ])
  const { x = '' } = await crypto.subtle.exportKey('jwk', key)
  const sign: Ed25519Sign = async (message) =>
    new Uint8Array(await crypto.subtle.sign(ED25519, key, copy(message)))
  return { publicKey: decodeBase64url(x), sign }
}

/** WebCrypto's types want a buffer that no other thread shares. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}
