import { sha256 } from '#primitives'
import { KEY_WRAPPING } from '@agent-exchange/protocol'
import { decodeBase64url, encodeBase64url } from './base64.ts'
import { CryptoError } from './errors.ts'
import { hmacSha256 } from './hmac.ts'
import { readEphemeralJwk } from './jwk-shape.ts'
import { agreementKeyOf, agreeOnSecret, type CryptoKey, type PrivateKey, type PublicKey } from './keys.ts'
import type { SealedRecipient } from './sealed-package-shape.ts'

const COMMITMENT_TAG = new TextEncoder().encode('agent-exchange/content-key/v1')

/**
 * Commits to a content encryption key (O-17). A256GCM does not: whoever chooses two keys can craft one ciphertext that
 * opens under both, with different plaintexts.
 */
export function contentKeyCommitment(contentKey: Uint8Array): string {
  return encodeBase64url(hmacSha256(contentKey, COMMITMENT_TAG))
}

/** Wraps a content encryption key for a recipient: ECDH-ES+A256KW (RFC 7518 section 4.6) with a new ephemeral key. */
export async function wrapContentKey(
  contentKey: Uint8Array<ArrayBuffer>,
  { kid, publicKey }: { readonly kid: string; readonly publicKey: PublicKey },
): Promise<SealedRecipient> {
  const curve = publicKey.jwk.crv
  const ephemeral = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: curve }, false, [
    'deriveBits',
  ])
  const other = await agreementKeyOf(publicKey)
  const wrappingKey = await wrappingKeyOf(await agreeOnSecret(ephemeral.privateKey, other, curve))
  const key = await importContentKey(contentKey, true)
  const wrapped = await crypto.subtle.wrapKey('raw', key, wrappingKey, 'AES-KW')
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', ephemeral.publicKey)
  return {
    encrypted_key: encodeBase64url(new Uint8Array(wrapped)),
    header: { alg: KEY_WRAPPING, epk: { kty, crv, x, y }, kid },
  }
}

/**
 * Rejects if the entry was wrapped for another key. A key that cannot be used now is `key_unavailable`: that says nothing
 * about the entry.
 */
export async function unwrapContentKey(
  { encrypted_key, header: { epk } }: SealedRecipient,
  privateKey: PrivateKey,
): Promise<Uint8Array<ArrayBuffer>> {
  const curve = privateKey.publicJwk.crv
  const secret = await privateKey
    .agree(readEphemeralJwk(epk, { curves: [curve] }))
    .catch((cause: unknown) => {
      throw new CryptoError('key_unavailable', { cause })
    })
  const wrappingKey = await wrappingKeyOf(secret)
  const wrapped = new Uint8Array(decodeBase64url(encrypted_key))
  const key = await crypto.subtle.unwrapKey('raw', wrapped, wrappingKey, 'AES-KW', 'AES-GCM', true, [
    'decrypt',
  ])
  return new Uint8Array(await crypto.subtle.exportKey('raw', key))
}

export function importContentKey(
  contentKey: Uint8Array<ArrayBuffer>,
  extractable = false,
): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', contentKey, 'AES-GCM', extractable, ['encrypt', 'decrypt'])
}

async function wrappingKeyOf(secret: Uint8Array): Promise<CryptoKey> {
  const bytes = new Uint8Array(await sha256(concatKdfInput(secret)))
  return crypto.subtle.importKey('raw', bytes, 'AES-KW', false, ['wrapKey', 'unwrapKey'])
}

/**
 * RFC 7518 section 4.6.2. One round of SHA-256 gives the 256 bits that AES key wrap needs; the protocol has neither apu
 * nor apv.
 */
function concatKdfInput(secret: Uint8Array): Uint8Array {
  const algorithm = new TextEncoder().encode(KEY_WRAPPING)
  return Uint8Array.from([
    ...uint32(1),
    ...secret,
    ...uint32(algorithm.length),
    ...algorithm,
    ...uint32(0),
    ...uint32(0),
    ...uint32(256),
  ])
}

function uint32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]
}
