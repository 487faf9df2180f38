import { createCipheriv, createDecipheriv, randomBytes, scrypt, type ScryptOptions } from 'node:crypto'
import { canonicalBytes, decodeBase64url, encodeBase64url } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import { KEY_FILE_FORMAT, KEY_FILE_VERSION, type LockedKeys } from './file-key-store-format.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16
/** 128 MiB and a few hundred milliseconds per guess; OWASP's first recommendation for scrypt. */
const DEFAULT_COST = { n: 131_072, r: 8, p: 1 } as const

type Cost = Pick<LockedKeys, 'n' | 'r' | 'p'>

/** Encrypts text with a passphrase: key derivation by scrypt (RFC 7914), AES-256-GCM. */
export interface PassphraseLock {
  lock(text: string): Promise<LockedKeys>
  unlock(locked: LockedKeys): Promise<string>
}

export function createPassphraseLock(passphrase: string, cost: Cost = DEFAULT_COST): PassphraseLock {
  if (passphrase === '') throw new ExchangeError('input_invalid', { what: 'The passphrase is empty.' })
  // Caches the last derived key, so that reading a file twice derives it once.
  let derived: { readonly from: string; readonly key: Promise<Buffer> } | undefined
  let written: Pick<LockedKeys, 'n' | 'r' | 'p' | 'salt'> | undefined

  function keyFor({ n, r, p, salt }: Cost & Pick<LockedKeys, 'salt'>): Promise<Buffer> {
    const from = JSON.stringify([n, r, p, salt])
    if (derived?.from !== from) {
      derived = { from, key: derive(passphrase, decodeBase64url(salt), { n, r, p }) }
    }
    return derived.key
  }

  return {
    async lock(text) {
      written ??= { ...cost, salt: encodeBase64url(randomBytes(SALT_BYTES)) }
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, await keyFor(written), iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(boundTo(written))
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return {
        kdf: 'scrypt',
        ...written,
        iv: encodeBase64url(iv),
        tag: encodeBase64url(cipher.getAuthTag()),
        ciphertext: encodeBase64url(ciphertext),
      }
    },

    async unlock(locked) {
      try {
        const { n, r, p, salt } = locked
        const iv = decodeBase64url(locked.iv)
        const decipher = createDecipheriv(CIPHER, await keyFor(locked), iv, { authTagLength: TAG_BYTES })
        decipher.setAAD(boundTo(locked))
        decipher.setAuthTag(decodeBase64url(locked.tag))
        const text = Buffer.concat([decipher.update(decodeBase64url(locked.ciphertext)), decipher.final()])
        // Reuses the salt that was read, so that one derived key serves reading and writing.
        written = { n, r, p, salt }
        return text.toString('utf8')
      } catch {
        throw new ExchangeError('key_store_locked')
      }
    },
  }
}

function boundTo({ n, r, p, salt }: Cost & Pick<LockedKeys, 'salt'>): Uint8Array {
  return canonicalBytes({ format: KEY_FILE_FORMAT, version: KEY_FILE_VERSION, kdf: 'scrypt', n, r, p, salt })
}

function derive(passphrase: string, salt: Uint8Array, { n, r, p }: Cost): Promise<Buffer> {
  const options: ScryptOptions = { N: n, r, p, maxmem: 129 * n * r + 1_048_576 }
  return new Promise((resolve, reject) => {
    // Unicode normalization: keyboards compose the same characters differently (RFC 8265 section 4).
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
