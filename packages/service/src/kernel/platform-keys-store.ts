import type { PublicJwk } from '@agent-exchange/crypto'
import type { Queries, Transaction } from '../db/database.ts'

export type PlatformKeyPurpose = 'token' | 'webhook' | 'statement'

/** A row of platform_key; this file is the table's owner. */
export interface PlatformKeyRow {
  readonly key_id: string
  readonly purpose: PlatformKeyPurpose
  readonly public_jwk: string
  readonly private_key_encrypted: Uint8Array
  readonly valid_from: string
  readonly valid_until: string
  readonly status: 'active' | 'retiring' | 'retired' | 'revoked'
  readonly created_at: string
}

export type PlatformKeyHistory = PlatformKeyRow & { readonly revoked_at: string | null }

/** No purpose has more usable keys than this, or something rotates them in a loop. */
const MAXIMUM_LISTED_KEYS = 100

/** Keys that have not ended yet, the one that starts last first. */
export async function listUsableKeys(
  queries: Queries,
  purpose: PlatformKeyPurpose,
  now: string,
): Promise<PlatformKeyRow[]> {
  return queries<PlatformKeyRow[]>`
    select key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at
    from platform_key
    where purpose = ${purpose} and status in ('active', 'retiring') and valid_until > ${now}
    order by valid_from desc, created_at desc, key_id
    limit ${MAXIMUM_LISTED_KEYS}`
}

/** Keys of every status, the one that starts last first. */
export async function listAllKeys(
  queries: Queries,
  purpose: PlatformKeyPurpose,
): Promise<PlatformKeyHistory[]> {
  return queries<PlatformKeyHistory[]>`
    select key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at,
      revoked_at
    from platform_key where purpose = ${purpose}
    order by valid_from desc, created_at desc, key_id
    limit ${MAXIMUM_LISTED_KEYS}`
}

/** False where there is no such key that could still sign. */
export async function markRevoked(
  tx: Transaction,
  { purpose, keyId, now }: { purpose: PlatformKeyPurpose; keyId: string; now: string },
): Promise<boolean> {
  const { count } = await tx`
    update platform_key set status = 'revoked', revoked_at = ${now}, invalid_from = ${now}
    where key_id = ${keyId} and purpose = ${purpose} and status in ('active', 'retiring') and valid_until > ${now}`
  return count > 0
}

export async function insertKey(tx: Transaction, row: PlatformKeyRow): Promise<void> {
  await tx`
    insert into platform_key
      (key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at)
    values
      (${row.key_id}, ${row.purpose}, ${row.public_jwk}, ${Buffer.from(row.private_key_encrypted)}, ${row.valid_from},
       ${row.valid_until}, ${row.status}, ${row.created_at})`
}

/** Every active key of the purpose but one begins to retire, and ends at the given time if not earlier. */
export async function retireOthers(
  tx: Transaction,
  { purpose, keep, until }: { purpose: PlatformKeyPurpose; keep: string; until: string },
): Promise<void> {
  await tx`
    update platform_key set status = 'retiring', valid_until = least(valid_until, ${until}::timestamptz)
    where purpose = ${purpose} and status = 'active' and key_id <> ${keep}`
}

/** What has ended is marked so; readers go by the time and do not wait for this. */
export async function markRetired(tx: Transaction, now: string): Promise<number> {
  const { count } = await tx`
    update platform_key set status = 'retired' where status in ('active', 'retiring') and valid_until <= ${now}`
  return count
}

export function publicJwkOf(row: PlatformKeyRow): PublicJwk {
  return JSON.parse(row.public_jwk) as PublicJwk
}
