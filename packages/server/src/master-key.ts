import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/** Shorter keys could be guessed, so they are refused rather than stretched. */
export const SECRET_BYTES = 32

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_CHARACTERS = 16
const PRIVATE_KEYS = 'platform private keys'
const WRAPPING = 'secret wrapping'

/** A stored secret was encrypted with another master key, or the given key is too short. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/** The master keys that a process has. During a rotation it has the previous one too. */
export interface MasterKeys {
  readonly current: Uint8Array
  readonly previous?: Uint8Array | undefined
}

/** Identifies a master key without revealing it. */
export function fingerprint(masterKey: Uint8Array): string {
  return createHash('sha256').update(masterKey).digest('hex').slice(0, FINGERPRINT_CHARACTERS)
}

export function knownKeys({ current, previous }: MasterKeys): readonly Uint8Array[] {
  return previous ? [current, previous] : [current]
}

/** Derives a secret for one purpose (RFC 5869 section 3.2): it reveals neither the key nor the secret of another purpose. */
export function deriveSecret(key: Uint8Array, purpose: string): Uint8Array {
  if (key.length < SECRET_BYTES) {
    throw new MasterKeyError(`The master key has ${key.length} bytes; give it ${SECRET_BYTES}.`)
  }
  return new Uint8Array(hkdfSync('sha256', key, '', `agent-exchange ${purpose}`, SECRET_BYTES))
}

/** The key id is additional data, so that a ciphertext cannot be moved to another row. */
export function encryptPrivateKey(dataKey: Uint8Array, keyId: string, plaintext: string): Uint8Array {
  return encrypt(deriveSecret(dataKey, PRIVATE_KEYS), keyId, Buffer.from(plaintext))
}

/** Undefined: another data key encrypted it, or it was altered. */
export function decryptPrivateKey(
  dataKey: Uint8Array,
  keyId: string,
  stored: Uint8Array,
): string | undefined {
  return decrypt(deriveSecret(dataKey, PRIVATE_KEYS), keyId, stored)?.toString('utf8')
}

/** The name is additional data, so that one wrapped secret cannot take the place of another. */
export function wrapSecret(masterKey: Uint8Array, name: string, secret: Uint8Array): Uint8Array {
  return encrypt(deriveSecret(masterKey, WRAPPING), name, secret)
}

/** Undefined: another master key wraps it, or it was altered. */
export function unwrapSecret(
  masterKey: Uint8Array,
  name: string,
  wrapped: Uint8Array,
): Uint8Array | undefined {
  const secret = decrypt(deriveSecret(masterKey, WRAPPING), name, wrapped)
  return secret && Uint8Array.from(secret)
}

/** AES-256-GCM: version, nonce, ciphertext, tag. */
function encrypt(secret: Uint8Array, context: string, plaintext: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', secret, nonce)
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()])
}

function decrypt(secret: Uint8Array, context: string, stored: Uint8Array): Buffer | undefined {
  const bytes = Buffer.from(stored)
  if (bytes[0] !== VERSION || bytes.length <= 1 + NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
