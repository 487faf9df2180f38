import {
  generateKeyPair,
  importPrivateJwk,
  jwkThumbprint,
  type KeyProvider,
  type PrivateJwk,
  type PrivateKey,
  type PublicJwk,
} from '@agent-exchange/crypto'
import {
  isUnavailable,
  loggableError,
  type Database,
  type Queries,
  type Transaction,
} from '@agent-exchange/database'
import { ExchangeError, type KeyRole, type KeyStore, type OwnKey } from '@agent-exchange/sdk'
import {
  describeKey,
  missing,
  privateKeyHeldBy,
  useOf,
  withKey,
  withRevocation,
  withStages,
} from '@agent-exchange/sdk/internal'
import { lockPart } from './agent-lock.ts'
import type { SecretBox } from './secret-box.ts'
import { wrappedColumn } from './wrapped-rows.ts'

interface KeyRow {
  readonly description: string
  readonly private_key_encrypted: Uint8Array | null
  readonly reference: string | null
}

/** Where the private part of a new key is. */
interface HeldPrivateKey {
  readonly encrypted: Uint8Array | null
  readonly reference: string | null
}

/** A key from elsewhere: with its private part, or with its reference in the module. */
export type ImportedKey = OwnKey & ({ readonly privateJwk: PrivateJwk } | { readonly reference: string })

export interface PostgresKeyStore extends KeyStore {
  /**
   * Moves keys in from elsewhere: encrypts them or moves them into the module, then returns what stores them. `undo`
   * destroys what was made in the module for a transaction that failed.
   */
  prepareImport(keys: readonly ImportedKey[]): Promise<{
    readonly store: (tx: Transaction) => Promise<void>
    readonly undo: () => Promise<void>
  }>
}

export interface KeyPlaces {
  readonly box: SecretBox
  /** A hardware module: new keys are made in it, and the database holds references. Earlier keys stay where they are. */
  readonly provider?: KeyProvider
}

/** The keys of one agent: encrypted by the master key, or references to keys in a module. */
export function openPostgresKeyStore(
  db: Database,
  agentId: string,
  { box, provider }: KeyPlaces,
): PostgresKeyStore {
  const handles = new Map<string, Promise<PrivateKey>>()
  const contextOf = (publicJwk: PublicJwk) => keyContext(agentId, publicJwk)

  async function hold(role: KeyRole): Promise<HeldPrivateKey & { readonly publicJwk: PublicJwk }> {
    const use = useOf(role)
    if (provider) {
      const { reference, privateKey } = await provider.generate({ use, label: `${agentId} ${role}` })
      return { reference, encrypted: null, publicJwk: privateKey.publicJwk }
    }
    const { publicKey, privateJwk } = await generateKeyPair(use)
    return { reference: null, encrypted: await encrypt(privateJwk, publicKey.jwk), publicJwk: publicKey.jwk }
  }

  const encrypt = async (privateJwk: PrivateJwk, publicJwk: PublicJwk) =>
    box.wrap(await contextOf(publicJwk), Buffer.from(JSON.stringify(privateJwk)))

  async function moveIn(imported: ImportedKey) {
    const { use, label } = { use: useOf(imported.role), label: `${agentId} ${imported.role}` }
    if ('reference' in imported) {
      const { reference, ...key } = imported
      // The module of the gateway must be the one that holds it.
      await privateKeyHeldBy(provider, imported)
      return { key, held: { reference, encrypted: null }, isMade: false }
    }
    const { privateJwk, ...key } = imported
    const held = provider
      ? { reference: (await provider.importKey(privateJwk, { use, label })).reference, encrypted: null }
      : { reference: null, encrypted: await encrypt(privateJwk, key.publicJwk) }
    return { key, held, isMade: true }
  }

  async function load(keyId: string): Promise<PrivateKey> {
    const [row] = await db<KeyRow[]>`
      select description, private_key_encrypted, reference from agent_key
      where agent_id = ${agentId} and key_id = ${keyId}`
    if (!row) throw missing(keyId)
    const { role, publicJwk } = describe(row)
    if (row.private_key_encrypted) {
      const text = Buffer.from(box.unwrap(await contextOf(publicJwk), row.private_key_encrypted)).toString()
      return importPrivateJwk(JSON.parse(text), { use: useOf(role) })
    }
    return privateKeyHeldBy(provider, { ...describe(row), reference: row.reference ?? '' })
  }

  const change = (next: (keys: readonly OwnKey[]) => readonly OwnKey[]) =>
    db.begin(async (tx) => {
      await lockPart(tx, 'keys', agentId)
      const before = await listKeys(tx, agentId)
      const known = new Map(before.map((key) => [key.keyId, JSON.stringify(key)]))
      for (const key of next(before))
        if (known.get(key.keyId) !== JSON.stringify(key)) await updateKey(tx, agentId, key)
    })

  const add = (key: OwnKey, held: HeldPrivateKey) =>
    db.begin(async (tx) => {
      await lockPart(tx, 'keys', agentId)
      withKey(await listKeys(tx, agentId), key)
      await insertKey(tx, agentId, key, held)
    })

  return {
    list: () => orUnavailable(listKeys(db, agentId)),
    async generate(wanted) {
      const { publicJwk, ...held } = await hold(wanted.role)
      const key = await describeKey(wanted, publicJwk)
      try {
        await add(key, held)
      } catch (error) {
        // Another process made the key of this place first.
        if (held.reference !== null) await provider?.destroy(held.reference)
        throw error
      }
      return key
    },
    privateKey(keyId) {
      let handle = handles.get(keyId)
      if (!handle) {
        handle = orUnavailable(load(keyId))
        handles.set(keyId, handle)
        handle.catch(() => handles.delete(keyId))
      }
      return handle
    },
    setStages: (stages) => change((keys) => withStages(keys, stages)),
    noteRevocation: (keyId, invalidFrom) => change((keys) => withRevocation(keys, keyId, invalidFrom)),
    async prepareImport(keys) {
      const made: string[] = []
      const undo = async () => {
        for (const reference of made) await provider?.destroy(reference)
      }
      const prepared: (readonly [OwnKey, HeldPrivateKey])[] = []
      try {
        for (const imported of keys) {
          const { key, held, isMade } = await moveIn(imported)
          if (isMade && held.reference !== null) made.push(held.reference)
          prepared.push([key, held])
        }
      } catch (error) {
        await undo()
        throw error
      }
      return {
        undo,
        async store(tx) {
          for (const [key, held] of prepared) await insertKey(tx, agentId, key, held)
        },
      }
    },
  }
}

/** A database that is away delays what needs the keys, and says nothing about a package. */
async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isUnavailable(error)) throw error
    throw new ExchangeError('key_store_unavailable', { cause: loggableError(error), retryable: true })
  }
}

const keyContext = async (agentId: string, publicJwk: PublicJwk) =>
  `key/${agentId}/${await jwkThumbprint(publicJwk)}`

const describe = ({ description }: Pick<KeyRow, 'description'>) => JSON.parse(description) as OwnKey

async function listKeys(db: Queries, agentId: string): Promise<readonly OwnKey[]> {
  const rows = await db<KeyRow[]>`
    select description from agent_key where agent_id = ${agentId} order by key_id`
  return rows.map(describe).toSorted((left, right) => (left.createdAt < right.createdAt ? -1 : 1))
}

/** Where the private part of each key is: a reference to a module, or undefined for the database. */
export async function keyReferences(
  db: Queries,
  agentId: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  const rows = await db<{ key_id: string; reference: string | null }[]>`
    select key_id, reference from agent_key where agent_id = ${agentId}`
  return new Map(rows.map(({ key_id, reference }) => [key_id, reference ?? undefined]))
}

async function insertKey(tx: Transaction, agentId: string, key: OwnKey, held: HeldPrivateKey): Promise<void> {
  await tx`
    insert into agent_key (agent_id, key_id, description, private_key_encrypted, reference)
    values (${agentId}, ${key.keyId}, ${JSON.stringify(key)}, ${held.encrypted}, ${held.reference})`
}

async function updateKey(tx: Transaction, agentId: string, key: OwnKey): Promise<void> {
  await tx`
    update agent_key set description = ${JSON.stringify(key)}
    where agent_id = ${agentId} and key_id = ${key.keyId}`
}

/** Private keys under the master key. */
export const wrappedKeys = wrappedColumn('agent_key', {
  what: 'private keys',
  column: 'private_key_encrypted',
  key: ['agent_id', 'key_id'],
  beside: ['description'],
  contextOf: (row) => keyContext(row.agent_id, describe(row).publicJwk),
})
