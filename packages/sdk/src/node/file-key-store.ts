import {
  generateKeyPair,
  importPrivateJwk,
  parseStrictJson,
  type KeyProvider,
  type PrivateKey,
} from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import { privateKeyHeldBy } from '../keys/held-key.ts'
import { describeKey, missing, useOf, withKey, withRevocation, withStages } from '../keys/key-rules.ts'
import type { KeyStore, NewKey, OwnKey } from '../keys/key-store.ts'
import {
  fromRecord,
  KEY_FILE_FORMAT,
  KEY_FILE_VERSION,
  keyFile,
  keyRecords,
  toRecord,
  type LockedKeys,
  type PrivatePart,
  type StoredKey,
} from './file-key-store-format.ts'
import { createPassphraseLock, type PassphraseLock } from './passphrase-cipher.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

export interface FileKeyStoreOptions {
  /** Locks the file; without it, permissions alone protect it. */
  readonly passphrase?: string
  /** scrypt's parameters for a new file. */
  readonly cost?: Pick<LockedKeys, 'n' | 'r' | 'p'>
  /** Makes and holds the private keys, for example a PKCS#11 module. The file then has references to them. */
  readonly keyProvider?: KeyProvider
}

/**
 * Keys in one file that only its owner can read (0600), replaced as a whole with every change, so that a crash at
 * any moment leaves the keys of before or of after. Several processes may use it. A file that is not there yet is
 * an empty store.
 *
 * @example
 * const keys = openFileKeyStore('./agent/keys.json', { passphrase })
 * await makeAgentKeys(keys, { identity, now: () => new Date() })
 */
export function openFileKeyStore(file: string, options: FileKeyStoreOptions = {}): KeyStore {
  const { passphrase, cost, keyProvider } = options
  const lock = passphrase === undefined ? undefined : createPassphraseLock(passphrase, cost)
  const handles = new Map<string, Promise<PrivateKey>>()

  const read = () => readStoredKeys(file, lock)

  async function write(keys: readonly StoredKey[]): Promise<void> {
    const records = keys.map(toRecord)
    const content = lock ? { locked: await lock.lock(JSON.stringify(records)) } : { keys: records }
    const described = { format: KEY_FILE_FORMAT, version: KEY_FILE_VERSION, ...content }
    await writePrivateFile(file, `${JSON.stringify(described, undefined, 2)}\n`)
  }

  async function change(next: (keys: readonly StoredKey[]) => readonly StoredKey[]): Promise<void> {
    try {
      await withFileLock(`${file}.lock`, async () => write(next(await read())))
    } catch (error) {
      throw error instanceof ExchangeError ? error : unavailable(file, error)
    }
  }

  async function open(key: StoredKey): Promise<PrivateKey> {
    if ('reference' in key) return privateKeyHeldBy(keyProvider, key)
    return importPrivateJwk(key.privateJwk, { use: useOf(key.role) }).catch((cause: unknown) => {
      throw unreadable(file, 'A private key does not belong to its public part.', cause)
    })
  }

  return {
    list: async () => (await read()).map(publicSide),

    async generate(key) {
      const { publicJwk, ...part } = await generatePart(key, keyProvider)
      const made = await describeKey(key, publicJwk)
      await change((keys) => withKey(keys, { ...made, ...part }))
      return made
    },

    async privateKey(keyId) {
      const known = handles.get(keyId)
      if (known) return known
      const stored = (await read()).find((key) => key.keyId === keyId)
      if (!stored) throw missing(keyId)
      const handle = open(stored).catch((cause: unknown) => {
        handles.delete(keyId)
        throw cause
      })
      handles.set(keyId, handle)
      return handle
    },

    setStages: (stages) => change((keys) => withStages(keys, stages)),

    noteRevocation: (keyId, invalidFrom) => change((keys) => withRevocation(keys, keyId, invalidFrom)),
  }
}

/** All keys of the file with their private parts. They leave this package only when an agent moves to a gateway. */
export async function readStoredKeys(
  file: string,
  lock: Pick<PassphraseLock, 'unlock'> | undefined,
): Promise<readonly StoredKey[]> {
  const found = await readPrivateFile(file).catch((cause: unknown) => {
    throw unavailable(file, cause)
  })
  if (!found) return []
  if (isOpenToOthers(found.mode, 'any')) throw new ExchangeError('key_store_exposed', { details: { file } })
  const content = parsed(found.text, file)
  if (!keyFile.accepts(content)) throw unreadable(file)
  // With a passphrase expected, an open file is not ours: somebody put it there.
  if ('keys' in content) {
    if (lock) throw unreadable(file, 'A passphrase was given, and the key store is not locked by one.')
    return content.keys.map(fromRecord)
  }
  if (!lock) throw new ExchangeError('key_store_locked', { details: { file } })
  const records = parsed(await lock.unlock(content.locked), file)
  if (!keyRecords.accepts(records)) throw unreadable(file)
  return records.map(fromRecord)
}

async function generatePart(
  { role }: NewKey,
  provider: KeyProvider | undefined,
): Promise<Pick<OwnKey, 'publicJwk'> & PrivatePart> {
  const use = useOf(role)
  if (provider) {
    const { reference, privateKey } = await provider.generate({ use, label: `agent ${role}` })
    return { publicJwk: privateKey.publicJwk, reference }
  }
  const { publicKey, privateJwk } = await generateKeyPair(use)
  return { publicJwk: publicKey.jwk, privateJwk }
}

function publicSide(key: StoredKey): OwnKey {
  const { privateJwk: _, reference: __, ...own } = { privateJwk: undefined, reference: undefined, ...key }
  return own
}

/** Nothing of the text goes into the error: it may hold private keys. */
function parsed(text: string, file: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    throw unreadable(file)
  }
}

function unreadable(file: string, what?: string, cause?: unknown): ExchangeError {
  return new ExchangeError('key_store_unreadable', {
    details: { file },
    ...(what !== undefined && { what }),
    cause,
  })
}

function unavailable(file: string, cause: unknown): ExchangeError {
  return new ExchangeError('key_store_unavailable', { details: { file }, cause })
}
