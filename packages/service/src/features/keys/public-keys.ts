import { CryptoError, importPublicJwk, type PublicKey } from '@agent-exchange/crypto'
import { LRUCache } from 'lru-cache'
import type { Database, Transaction } from '@agent-exchange/database'
import { shareNames } from '../../kernel/named-locks.ts'
import { Problem } from '../../kernel/problem.ts'
import type { KeyState } from './signing-key.ts'

const MAXIMUM_CACHED_KEYS = 10_000

/** The material of a key id never changes, so an imported key may be kept; its status may not. */
const imported = new LRUCache<string, PublicKey>({ max: MAXIMUM_CACHED_KEYS })

export interface KeyName {
  readonly agentId: string
  readonly keyId: string
}

export const lockNameOf = ({ agentId, keyId }: KeyName) => `${agentId}\0${keyId}`

/** The public key behind a key id of an organization's agent; whether it may be used is decided in the transaction. */
export async function publicKeyOf(db: Database, organizationId: string, name: KeyName): Promise<PublicKey> {
  // The database is part of the name: tests run several exchanges in one process.
  const cacheName = [db.database, organizationId, lockNameOf(name)].join('\0')
  const cached = imported.get(cacheName)
  if (cached) return cached
  const [row] = await db<{ public_jwk: string }[]>`
    select public_jwk from agent_key join agent using (agent_id)
    where agent_id = ${name.agentId} and key_id = ${name.keyId} and use = 'signing'
      and organization_id = ${organizationId}`
  if (!row) throw new Problem('signing_key_unusable', { reason: 'unknown' })
  const key = await importPublicJwk(JSON.parse(row.public_jwk))
  imported.set(cacheName, key)
  return key
}

/** Current states of keys, held against a concurrent revocation until the transaction ends. */
export async function holdKeys(tx: Transaction, names: readonly KeyName[]): Promise<Map<string, KeyState>> {
  const distinct = [...new Map(names.map((name) => [lockNameOf(name), name])).values()]
  const locked = shareNames(tx, 'key', distinct.map(lockNameOf))
  const read = tx<(KeyState & { agent_id: string; key_id: string })[]>`
    select agent_id, key_id, use, status, valid_from, invalid_from from agent_key
    join unnest(${distinct.map(({ agentId }) => agentId)}::text[], ${distinct.map(({ keyId }) => keyId)}::text[])
      as named (agent_id, key_id) using (agent_id, key_id)`
  const [, rows] = await Promise.all([locked, read])
  return new Map(rows.map((row) => [lockNameOf({ agentId: row.agent_id, keyId: row.key_id }), row]))
}

/** Turns a failed check of a signature into its problem, with the step that failed and nothing else. */
export async function verified<T>(check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    if (error instanceof CryptoError)
      throw new Problem('signature_invalid', { reason: error.code }, { cause: error })
    throw error
  }
}
