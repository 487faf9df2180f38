import type { Queries, Transaction } from '@agent-exchange/database'
import type { KeyName } from '../keys/public-keys.ts'

export type KeyStatus = 'active' | 'retiring' | 'retired' | 'revoked'

/** Table agent_key: the current state of a key. */
export interface KeyRow {
  readonly agent_id: string
  readonly key_id: string
  readonly use: 'signing' | 'encryption'
  /** JSON text of the public JWK. */
  readonly public_jwk: string
  readonly thumbprint: string
  readonly valid_from: string
  readonly replaces_key_id: string | null
  readonly status: KeyStatus
  readonly registered_at: string
  readonly revoked_at: string | null
  readonly invalid_from: string | null
}

/** All keys of an agent, including revoked ones, in order of registration. */
export async function keysOf(db: Queries, agentId: string): Promise<KeyRow[]> {
  return db<KeyRow[]>`
    select agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status, registered_at,
      revoked_at, invalid_from
    from agent_key where agent_id = ${agentId} order by registered_at, key_id`
}

/** Keys of any agents. The names must be distinct. */
export async function keysNamed(db: Queries, names: readonly KeyName[]): Promise<KeyRow[]> {
  return db<KeyRow[]>`
    select agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status, registered_at,
      revoked_at, invalid_from
    from agent_key join unnest(
      ${names.map(({ agentId }) => agentId)}::text[], ${names.map(({ keyId }) => keyId)}::text[])
      as named (agent_id, key_id) using (agent_id, key_id)
    order by registered_at, agent_id, key_id`
}

/** Locks a key for a change. The advisory lock of its name excludes signers (ID-05, locks.ts). */
export async function lockKey(tx: Transaction, agentId: string, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await tx<KeyRow[]>`
    select agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status, registered_at,
      revoked_at, invalid_from
    from agent_key where agent_id = ${agentId} and key_id = ${keyId} for update`
  return row
}

/** Inserts all keys in one statement. */
export async function insertKeys(tx: Transaction, keys: readonly KeyRow[]): Promise<void> {
  await tx`
    insert into agent_key (agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status,
      registered_at)
    select agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status, registered_at
    from json_to_recordset(${JSON.stringify(keys)}::text::json) as row (
      agent_id text, key_id text, use text, public_jwk text, thumbprint text, valid_from text, replaces_key_id text,
      status text, registered_at timestamptz)`
}

/** False if the agent has a key of this id already. */
export async function insertKeyOnce(
  tx: Transaction,
  key: Omit<KeyRow, 'revoked_at' | 'invalid_from'>,
): Promise<boolean> {
  const { count } = await tx`
    insert into agent_key
      (agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status, registered_at)
    values (${key.agent_id}, ${key.key_id}, ${key.use}, ${key.public_jwk}, ${key.thumbprint}, ${key.valid_from},
      ${key.replaces_key_id}, ${key.status}, ${key.registered_at})
    on conflict do nothing`
  return count > 0
}

export async function setKeyStatus(tx: Transaction, { agent_id, key_id, status }: KeyRow): Promise<void> {
  await tx`update agent_key set status = ${status} where agent_id = ${agent_id} and key_id = ${key_id}`
}

/** A key that is not active keeps its status. */
export async function retireActiveKey(tx: Transaction, { agentId, keyId }: KeyName): Promise<void> {
  await tx`
    update agent_key set status = 'retiring'
    where agent_id = ${agentId} and key_id = ${keyId} and status = 'active'`
}

export async function markRevoked(
  tx: Transaction,
  { agent_id, key_id }: Pick<KeyRow, 'agent_id' | 'key_id'>,
  { revokedAt, invalidFrom }: { revokedAt: string; invalidFrom: string },
): Promise<void> {
  await tx`
    update agent_key set status = 'revoked', revoked_at = ${revokedAt}, invalid_from = ${invalidFrom}
    where agent_id = ${agent_id} and key_id = ${key_id}`
}

export async function countRevocations(tx: Transaction, { agent_id, key_id }: KeyRow): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from agent_key_event
    where agent_id = ${agent_id} and key_id = ${key_id} and kind = 'revoked'`
  return row?.count ?? 0
}

type DirectoryRow = KeyRow & { readonly organization_id: string; readonly changes: number }

/** Owner, change count and keys of an agent, from one snapshot. Undefined if there is no such agent. */
export async function readDirectory(db: Queries, agentId: string) {
  const rows = await db<(DirectoryRow | (DirectoryRow & { readonly key_id: null }))[]>`
    select agent.organization_id, key.*,
      (select count(*) from agent_key_event where agent_id = ${agentId}) as changes
    from agent left join agent_key as key using (agent_id)
    where agent.agent_id = ${agentId} order by key.registered_at, key.key_id`
  const [first] = rows
  // An agent without keys yields one row whose key columns are null.
  return first && { organizationId: first.organization_id, changes: first.changes, keys: rows.filter(hasKey) }
}

function hasKey(row: { readonly key_id: string | null }): boolean {
  return row.key_id !== null
}
