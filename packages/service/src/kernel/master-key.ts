import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Shorter keys could be guessed, so they are refused rather than stretched. */
const MASTER_KEY_BYTES = 32

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PRIVATE_KEYS = 'platform private keys'

/** The stored keys were encrypted with another master key, or the given one is too short. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * Derives a secret for one purpose (RFC 5869 section 3.2): it reveals neither the master key nor the secret of another
 * purpose.
 */
export function deriveSecret(masterKey: Uint8Array, purpose: string): Uint8Array {
  if (masterKey.length < MASTER_KEY_BYTES) {
    throw new MasterKeyError(`The master key has ${masterKey.length} bytes; give it ${MASTER_KEY_BYTES}.`)
  }
  return new Uint8Array(hkdfSync('sha256', masterKey, '', `agent-exchange ${purpose}`, MASTER_KEY_BYTES))
}

/** AES-256-GCM with the key id as additional data, so that a ciphertext cannot be moved to another row. */
export function encryptPrivateKey(masterKey: Uint8Array, keyId: string, plaintext: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', deriveSecret(masterKey, PRIVATE_KEYS), nonce)
  cipher.setAAD(Buffer.from(keyId))
  const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()])
}

export function decryptPrivateKey(masterKey: Uint8Array, keyId: string, stored: Uint8Array): string {
  const secret = deriveSecret(masterKey, PRIVATE_KEYS)
  const bytes = Buffer.from(stored)
  if (bytes[0] !== VERSION || bytes.length <= 1 + NONCE_BYTES + TAG_BYTES) throw unreadable(keyId)
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(keyId))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const body = bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    throw unreadable(keyId)
  }
}

function unreadable(keyId: string): MasterKeyError {
  return new MasterKeyError(
    `The platform key ${keyId} in the database cannot be decrypted with this master key. ` +
      'Set AEX_MASTER_KEY (or restore the master-key file of the data folder) to the one this database was made with.',
  )
}
