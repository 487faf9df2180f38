import { randomBytes } from 'node:crypto'
import type { Transaction } from '@agent-exchange/database'
import {
  decryptPrivateKey,
  encryptPrivateKey,
  fingerprint,
  MasterKeyError,
  type MasterKeys,
  SECRET_BYTES,
  wrapSecret,
} from '@agent-exchange/server/master-key'
import { listEncryptedKeys, replaceEncrypted } from './key-store.ts'
import { storedReference } from './module-reference.ts'
import { readSecrets } from './platform-secrets.ts'
import { saveWrapped } from './wrapped-secret-store.ts'

/**
 * Moves the secrets to the current master key, and every private key to a new data key: the former master key and an old
 * backup open nothing that is written from now on. The MAC key stays, so that cursors remain valid. Call it under the
 * lock of platform keys.
 *
 * @returns the number of private keys
 */
export async function rotateMasterKey(tx: Transaction, keys: MasterKeys, now: string): Promise<number> {
  const { platform_keys: former, mac } = await readSecrets(tx, keys)
  const dataKey = randomBytes(SECRET_BYTES)
  // A module holds the others, and the master key does not protect them.
  const rows = (await listEncryptedKeys(tx)).filter((row) => storedReference(row) === undefined)
  for (const { key_id, private_key_encrypted } of rows) {
    const plaintext = decryptPrivateKey(former, key_id, private_key_encrypted)
    if (plaintext === undefined) throw new MasterKeyError(`The platform key ${key_id} cannot be decrypted.`)
    await replaceEncrypted(tx, {
      key_id,
      private_key_encrypted: encryptPrivateKey(dataKey, key_id, plaintext),
    })
  }
  const master_key_id = fingerprint(keys.current)
  for (const [name, secret] of [
    ['platform_keys', dataKey],
    ['mac', mac],
  ] as const) {
    const wrapped = wrapSecret(keys.current, name, secret)
    await saveWrapped(tx, { name, wrapped, master_key_id, wrapped_at: now })
  }
  return rows.length
}
