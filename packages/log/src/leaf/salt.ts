import { hmacSha256 } from '@agent-exchange/crypto'
import { encodeFields, requireLength, TAG } from './leaf-encoding.ts'

export const SALT_LENGTH = 32
export const BATCH_SECRET_LENGTH = 32

/** The salt of one leaf. Whoever knows it learns nothing of the secret, nor of the other salts of the batch. */
export function deriveSalt(batchSecret: Uint8Array, offset: number): Uint8Array {
  return hmacSha256(requireLength(batchSecret, BATCH_SECRET_LENGTH), encodeFields(TAG.salt, [offset]))
}
