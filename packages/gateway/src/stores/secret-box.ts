import { randomBytes } from 'node:crypto'
import {
  fingerprint,
  knownKeys,
  MasterKeyError,
  unwrapSecret,
  wrapSecret,
  type MasterKeys,
} from '@agent-exchange/server/master-key'

const DATA_KEY_BYTES = 32
/** Before the fingerprint of the master key that wraps. */
const MARKED = 2
/** Bytes of a mark: the version and the fingerprint. */
const MARK_BYTES = 9

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
  /** Wraps the same secret by the current master key. */
  rewrap(context: string, wrapped: Uint8Array): Uint8Array
  /** What begins everything that the current master key wraps. */
  currentMark(): Uint8Array
}

/** What begins everything that the master key with this fingerprint wraps. */
export const markOf = (keyId: string): Uint8Array =>
  Buffer.concat([Buffer.of(MARKED), Buffer.from(keyId, 'hex')])

const WRONG_KEY =
  'The database was written with another master key. Set AEX_GATEWAY_MASTER_KEY or AEX_GATEWAY_MASTER_KEY_FILE to it, ' +
  'or during a rotation AEX_GATEWAY_MASTER_KEY_PREVIOUS.'

export function createSecretBox(keys: () => MasterKeys): SecretBox {
  const currentMark = () => markOf(fingerprint(keys().current))
  const wrap = (context: string, secret: Uint8Array) =>
    Buffer.concat([currentMark(), wrapSecret(keys().current, context, secret)])
  const unwrap = (context: string, wrapped: Uint8Array) => {
    const mark = Buffer.from(wrapped.subarray(0, MARK_BYTES))
    const key = knownKeys(keys()).find((each) => mark.equals(markOf(fingerprint(each))))
    if (!key) throw new MasterKeyError(WRONG_KEY)
    const secret = unwrapSecret(key, context, wrapped.subarray(MARK_BYTES))
    if (secret) return secret
    throw new MasterKeyError('A stored ciphertext was altered.')
  }
  return {
    wrap,
    unwrap,
    currentMark,
    rewrap: (context, wrapped) => wrap(context, unwrap(context, wrapped)),
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
