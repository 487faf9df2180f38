import { randomBytes } from 'node:crypto'
import {
  knownKeys,
  MasterKeyError,
  unwrapSecret,
  wrapSecret,
  type MasterKeys,
} from '@agent-exchange/server/master-key'

const DATA_KEY_BYTES = 32

/** Bytes that a data key of their own encrypts, with that key, which the master key wraps. */
export interface SealedBytes {
  readonly wrappedKey: Uint8Array
  readonly sealed: Uint8Array
}

/**
 * Encrypts what the database must not show (AES-256-GCM). The context names the row and is authenticated, so that no
 * ciphertext can take the place of another.
 */
export interface SecretBox {
  wrap(context: string, secret: Uint8Array): Uint8Array
  unwrap(context: string, wrapped: Uint8Array): Uint8Array
  seal(context: string, plaintext: Uint8Array): SealedBytes
  open(context: string, stored: SealedBytes): Uint8Array
}

export function createSecretBox(keys: () => MasterKeys): SecretBox {
  const wrap = (context: string, secret: Uint8Array) => wrapSecret(keys().current, context, secret)
  const unwrap = (context: string, wrapped: Uint8Array) => {
    for (const key of knownKeys(keys())) {
      const secret = unwrapSecret(key, context, wrapped)
      if (secret) return secret
    }
    throw new MasterKeyError(
      'The database was written with another master key. Set AEX_GATEWAY_MASTER_KEY or AEX_GATEWAY_MASTER_KEY_FILE to it.',
    )
  }
  return {
    wrap,
    unwrap,
    seal(context, plaintext) {
      const dataKey = randomBytes(DATA_KEY_BYTES)
      return { wrappedKey: wrap(context, dataKey), sealed: wrapSecret(dataKey, context, plaintext) }
    },
    open(context, { wrappedKey, sealed }) {
      const plaintext = unwrapSecret(unwrap(context, wrappedKey), context, sealed)
      if (plaintext) return plaintext
      throw new MasterKeyError('A stored ciphertext was altered.')
    },
  }
}
