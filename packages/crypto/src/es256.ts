import { CURVES } from './curves.ts'
import { CryptoError } from './errors.ts'
import { type PrivateKey, type PublicKey, verifierOf } from './keys.ts'

/** Raw r||s (RFC 7518 section 3.4). */
export const SIGNATURE_LENGTH = 64

const ORDER = orderBytes()

/** ES256: 64 bytes of r||s over SHA-256 of the data. */
export function signEs256(key: PrivateKey, data: Uint8Array): Promise<Uint8Array> {
  if (key.use !== 'signing') throw new CryptoError('key_use_mismatch')
  return key.sign(data)
}

/**
 * Whether this is a valid signature of the data. Other lengths (including DER) and r or s outside 1 to n−1 are rejected
 * here (FIPS 186-5 section 6.4.2, step 1), independently of the runtime.
 */
export async function verifyEs256(key: PublicKey, data: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const verifier = verifierOf(key)
  return isRawSignature(signature) && verifier(data, signature)
}

/** Whether the bytes have the form of an ES256 signature: 64 bytes, r and s from 1 to n−1. */
export function isRawSignature(bytes: Uint8Array): boolean {
  return bytes.length === SIGNATURE_LENGTH && inRange(bytes.subarray(0, 32)) && inRange(bytes.subarray(32))
}

/** 1 ≤ value < n. Signatures are public, so the comparison need not be constant-time. */
function inRange(value: Uint8Array): boolean {
  if (value.every((byte) => byte === 0)) return false
  const i = value.findIndex((byte, index) => byte !== ORDER[index])
  return i !== -1 && (value[i] ?? 0) < (ORDER[i] ?? 0)
}

function orderBytes(): Uint8Array {
  const hex = CURVES['P-256'].n.toString(16)
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
}
