import { randomBytes } from 'node:crypto'
import type { Database, Queries, Transaction } from '@agent-exchange/database'
import {
  decryptPrivateKey,
  encryptPrivateKey,
  fingerprint,
  knownKeys,
  MasterKeyError,
  type MasterKeys,
  SECRET_BYTES,
  unwrapSecret,
  wrapSecret,
} from '@agent-exchange/server/master-key'
import { type EncryptedKey, findEncryptedKey } from './key-store.ts'
import { storedReference } from './module-reference.ts'
import { listWrapped, saveWrapped, SECRET_NAMES, type SecretName } from './wrapped-secret-store.ts'

/** Data keys that a process keeps: it may hold rows that it read before a rotation. */
const MAXIMUM_DATA_KEYS = 4

/** Secrets under the master key (decision 0024). */
export interface PlatformSecrets {
  /** At start, under the lock of platform keys: makes missing secrets. A wrong master key is a MasterKeyError. */
  open(tx: Transaction, now: string): Promise<void>
  /** Authenticates cursors and derives ids. It never changes. */
  mac(): Uint8Array
  /** With the data key that the database has now. */
  encrypt(tx: Transaction, keyId: string, plaintext: string): Promise<Uint8Array>
  decrypt(row: EncryptedKey): Promise<string>
  /** The master keys that this process has now. */
  readonly masterKeys: () => MasterKeys
}

export function platformSecrets({ db, masterKeys }: PlatformSecretSettings): PlatformSecrets {
  let mac: Uint8Array | undefined
  let dataKeys: readonly Uint8Array[] = []

  function find({ key_id, private_key_encrypted }: EncryptedKey): string | undefined {
    for (const dataKey of dataKeys) {
      const plaintext = decryptPrivateKey(dataKey, key_id, private_key_encrypted)
      if (plaintext !== undefined) return plaintext
    }
    return undefined
  }

  async function readDataKey(queries: Queries): Promise<Uint8Array> {
    const { platform_keys: dataKey } = await readSecrets(queries, masterKeys())
    const others = dataKeys.filter((each) => !Buffer.from(each).equals(dataKey))
    dataKeys = [dataKey, ...others].slice(0, MAXIMUM_DATA_KEYS)
    return dataKey
  }

  return {
    masterKeys,
    async open(tx, now) {
      await ensureSecrets(tx, masterKeys(), now)
      await readDataKey(tx)
      mac = (await readSecrets(tx, masterKeys())).mac
    },
    mac() {
      if (!mac) throw new Error('The secrets of the platform are not open.')
      return mac
    },
    encrypt: async (tx, keyId, plaintext) => encryptPrivateKey(await readDataKey(tx), keyId, plaintext),
    async decrypt(row) {
      const known = find(row)
      if (known !== undefined) return known
      // Another process may have rotated the master key since.
      await readDataKey(db)
      const plaintext = find(row)
      if (plaintext !== undefined) return plaintext
      throw undecryptable(row.key_id)
    },
  }
}

interface PlatformSecretSettings {
  readonly db: Database
  readonly masterKeys: () => MasterKeys
}

/** @throws {MasterKeyError} if none of these master keys wraps them */
export async function readSecrets(
  queries: Queries,
  keys: MasterKeys,
): Promise<Readonly<Record<SecretName, Uint8Array>>> {
  const rows = await listWrapped(queries)
  const open = (name: SecretName) => {
    const row = rows.find((each) => each.name === name)
    if (!row) throw new MasterKeyError(`The table wrapped_secret has no ${name}. Restore the database.`)
    const masterKey = knownKeys(keys).find((key) => fingerprint(key) === row.master_key_id)
    if (!masterKey) throw notWrappedByThese(row.master_key_id, keys)
    const secret = unwrapSecret(masterKey, name, row.wrapped)
    if (!secret) throw new MasterKeyError(`The secret ${name} in the database was altered. Restore it.`)
    return secret
  }
  return { platform_keys: open('platform_keys'), mac: open('mac') }
}

/** Fingerprint of the master key that the database needs. */
export async function wrappingKeyId(queries: Queries): Promise<string | undefined> {
  return (await listWrapped(queries))[0]?.master_key_id
}

/** That fingerprint, unless it is one of these. */
export async function missingKeyId(queries: Queries, ids: readonly string[]): Promise<string | undefined> {
  const needed = await wrappingKeyId(queries)
  return needed === undefined || ids.includes(needed) ? undefined : needed
}

async function ensureSecrets(tx: Transaction, keys: MasterKeys, now: string): Promise<void> {
  if ((await listWrapped(tx)).length > 0) return
  const earlier = await earlierMasterKey(tx, keys)
  const masterKey = earlier ?? keys.current
  for (const name of SECRET_NAMES) {
    const secret = earlier ?? randomBytes(SECRET_BYTES)
    const wrapped = wrapSecret(masterKey, name, secret)
    await saveWrapped(tx, { name, wrapped, master_key_id: fingerprint(masterKey), wrapped_at: now })
  }
}

/**
 * Earlier releases used the master key itself. It becomes the first data key, so that processes of both releases read
 * each other's keys and cursors; the first rotation replaces it.
 */
async function earlierMasterKey(tx: Transaction, keys: MasterKeys): Promise<Uint8Array | undefined> {
  const row = await findEncryptedKey(tx)
  if (!row || storedReference(row) !== undefined) return undefined
  const decrypts = (key: Uint8Array) =>
    decryptPrivateKey(key, row.key_id, row.private_key_encrypted) !== undefined
  const masterKey = knownKeys(keys).find(decrypts)
  if (!masterKey) throw undecryptable(row.key_id)
  return masterKey
}

const WHAT_TO_DO =
  'Set AEX_MASTER_KEY (or restore the master-key file of the data folder) to the one this database was made with.'

function undecryptable(keyId: string): MasterKeyError {
  return new MasterKeyError(
    `The platform key ${keyId} in the database cannot be decrypted with this master key. ${WHAT_TO_DO}`,
  )
}

function notWrappedByThese(needed: string, keys: MasterKeys): MasterKeyError {
  const given = knownKeys(keys).map(fingerprint).join(' and ')
  return new MasterKeyError(
    `The database needs the master key with fingerprint ${needed}, and this process has ${given}. ` +
      'Set AEX_MASTER_KEY, AEX_MASTER_KEY_PREVIOUS or the key file to that key. ' +
      'After a rotation of the master key only the new one works.',
  )
}
