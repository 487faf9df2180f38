import { SIGNATURE_ALGORITHM } from '@agent-exchange/protocol'
import { decodeAnyBase64, encodeBase64url } from './base64.ts'
import { canonicalBytes } from './canonical-json.ts'
import { closedObject, isObject } from './closed-object.ts'
import { CryptoError } from './errors.ts'
import { SIGNATURE_LENGTH, signEs256, verifyEs256 } from './es256.ts'
import type { PrivateKey, PublicKey } from './keys.ts'

/** The signature members of protocol objects. */
export type SignatureMember = 'signature' | 'sender_signature' | 'manifest_signature'

export interface DetachedSignature {
  readonly key_id: string
  readonly algorithm: typeof SIGNATURE_ALGORITHM
  readonly signature: string
}

export interface SigningKey {
  readonly key: PrivateKey
  readonly keyId: string
}

/** Signs RFC 8785 of the object without its signature member. */
export async function signDetached(
  object: object,
  { member, key, keyId }: SigningKey & { readonly member: SignatureMember },
): Promise<DetachedSignature> {
  const signature = await signEs256(key, signedBytes(object, member))
  return { key_id: keyId, algorithm: SIGNATURE_ALGORITHM, signature: encodeBase64url(signature) }
}

/** Parses the signature of an object without verifying it; `key_id` names the key to look up. */
export function readDetached(object: object, member: SignatureMember): DetachedSignature {
  const carried = isObject(object) ? object[member] : undefined
  const { key_id, algorithm, signature } = closedObject(
    carried,
    ['key_id', 'algorithm', 'signature'],
    'signature_malformed',
  )
  if (algorithm !== SIGNATURE_ALGORITHM) throw new CryptoError('signature_algorithm')
  if (typeof key_id !== 'string' || key_id === '') throw new CryptoError('signature_malformed')
  if (typeof signature !== 'string') throw new CryptoError('signature_malformed')
  return { key_id, algorithm, signature }
}

/** Verifies the signature of an object; throws if it is invalid. */
export async function verifyDetached(
  object: object,
  { member, publicKey }: { readonly member: SignatureMember; readonly publicKey: PublicKey },
): Promise<void> {
  const signature = signatureBytes(readDetached(object, member))
  if (!(await verifyEs256(publicKey, signedBytes(object, member), signature))) {
    throw new CryptoError('signature_mismatch')
  }
}

export function signedBytes(object: object, member: SignatureMember): Uint8Array {
  const { [member]: _, ...signed } = object as Readonly<Record<string, unknown>>
  return canonicalBytes(signed)
}

/**
 * The 64 bytes r||s. The encoding of detached signatures is an open point (O-22), so base64 and base64url are accepted,
 * padded or not. Compare the bytes, because one signature has several encodings.
 */
export function signatureBytes({ signature }: Pick<DetachedSignature, 'signature'>): Uint8Array {
  const bytes = decodeAnyBase64(signature)
  if (bytes?.length !== SIGNATURE_LENGTH) throw new CryptoError('signature_encoding')
  return bytes
}
