import {
  createPrivateKey,
  createPublicKey,
  randomBytes,
  sign,
  verify,
  type JsonWebKeyInput,
} from 'node:crypto'
import type { Database } from '@agent-exchange/database'
import { decryptPrivateKey, fingerprint, knownKeys, type MasterKeys } from '@agent-exchange/server/master-key'
import { tokenOf } from '../../platform-keys/module-reference.ts'
import { readSecrets, wrappingKeyId } from '../../platform-keys/platform-secrets.ts'
import { BackupContradiction, NotProved } from './check.ts'

const MESSAGE_BYTES = 32

/** Every private key decrypts, and belongs to its public key. */
export async function checkPlatformKeys(db: Database, keys: MasterKeys | undefined): Promise<string> {
  const needed = await wrappingKeyId(db)
  if (needed === undefined) {
    // A backup of an earlier release: the first start wraps its secrets.
    return checkRows(db, keys ? knownKeys(keys) : [])
  }
  if (!keys || !knownKeys(keys).map(fingerprint).includes(needed))
    throw new NotProved(
      `The master key with fingerprint ${needed} is not here. Without it the backup is useless.`,
    )
  return checkRows(db, [(await readSecrets(db, keys)).platform_keys])
}

async function checkRows(db: Database, dataKeys: readonly Uint8Array[]): Promise<string> {
  const rows = await db<{ key_id: string; public_jwk: string; private_key_encrypted: Uint8Array }[]>`
    select key_id, public_jwk, private_key_encrypted from platform_key order by key_id`
  if (dataKeys.length === 0)
    throw new NotProved('The master key is not here. Without it the backup is useless.')
  const tokens = new Set(rows.map(tokenOf).filter((token) => token !== undefined))
  const encrypted = rows.filter((row) => tokenOf(row) === undefined)
  for (const { key_id, public_jwk, private_key_encrypted } of encrypted) {
    const text = dataKeys
      .map((key) => decryptPrivateKey(key, key_id, private_key_encrypted))
      .find((each) => each !== undefined)
    if (text === undefined) throw new BackupContradiction(`The platform key ${key_id} does not decrypt.`)
    if (!isPair(JSON.parse(text) as JsonWebKeyInput['key'], public_jwk))
      throw new BackupContradiction(`The platform key ${key_id} does not belong to its public key.`)
  }
  const opened = `All ${encrypted.length} platform keys open with the master key.`
  if (tokens.size === 0) return opened
  const elsewhere = rows.length - encrypted.length
  return `${opened} ${elsewhere} more are in a PKCS#11 module (token ${[...tokens].join(', ')}), which no backup holds.`
}

function isPair(privateJwk: JsonWebKeyInput['key'], publicJwk: string): boolean {
  const privateKey = createPrivateKey({ key: privateJwk, format: 'jwk' })
  const publicKey = createPublicKey({ key: JSON.parse(publicJwk) as JsonWebKeyInput['key'], format: 'jwk' })
  const algorithm = privateKey.asymmetricKeyType === 'ec' ? 'sha256' : null
  const message = randomBytes(MESSAGE_BYTES)
  return verify(algorithm, message, publicKey, sign(algorithm, message, privateKey))
}
