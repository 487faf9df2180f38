import type { PublicJwk } from '@agent-exchange/crypto'
import type { PublicKey } from '@agent-exchange/protocol'
import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { secondsBetween } from '@agent-exchange/server/clock'
import { Problem } from '../kernel/problem.ts'
import { tokenOf } from './module-reference.ts'

/** `log` signs checkpoints of the transparency log. */
export const PLATFORM_KEY_PURPOSES = ['webhook', 'token', 'statement', 'log'] as const
export type PlatformKeyPurpose = (typeof PLATFORM_KEY_PURPOSES)[number]

/** A row of platform_key; this file owns the table. */
export interface PlatformKeyRow {
  readonly key_id: string
  readonly purpose: PlatformKeyPurpose
  readonly public_jwk: string
  readonly private_key_encrypted: Uint8Array
  readonly valid_from: string
  readonly valid_until: string
  readonly status: 'active' | 'retiring' | 'retired' | 'revoked'
  readonly created_at: string
  readonly revoked_at: string | null
  readonly invalid_from: string | null
  /** Published and unused, for an emergency (ID-08). */
  readonly standby: boolean
}

/** A key as operators see it; directories show it without `standby`. */
export type ListedKey = PublicKey & {
  readonly standby?: true
  /** Where the private key is: `database`, or the token of a PKCS#11 module. */
  readonly held_in: string
}

/** Limit of every list. Rotation stops at MAXIMUM_PUBLISHED_KEYS, which leaves room for emergency keys. */
const MAXIMUM_LISTED_KEYS = 100
const MAXIMUM_PUBLISHED_KEYS = 50
/** All usable log keys sign each checkpoint, which has room for 64 signatures, half of them of witnesses. */
const MAXIMUM_LOG_KEYS = 32

const COLUMNS = fragment`
  key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at, revoked_at,
  invalid_from, standby`

/** Keys that have not ended, latest start first. */
export async function listUsableKeys(
  queries: Queries,
  purpose: PlatformKeyPurpose,
  now: string,
): Promise<PlatformKeyRow[]> {
  return queries<PlatformKeyRow[]>`
    select ${COLUMNS} from platform_key
    where purpose = ${purpose} and status in ('active', 'retiring') and valid_until > ${now}
    order by valid_from desc, created_at desc, key_id
    limit ${MAXIMUM_LISTED_KEYS}`
}

/** Usable keys, and keys that were revoked before their end: receivers must see the revocation. */
export async function listPublishedKeys(
  queries: Queries,
  purpose: PlatformKeyPurpose,
  now: string,
): Promise<PlatformKeyRow[]> {
  return queries<PlatformKeyRow[]>`
    select ${COLUMNS} from platform_key
    where purpose = ${purpose} and status in ('active', 'retiring', 'revoked') and valid_until > ${now}
    order by standby, valid_from desc, created_at desc, key_id
    limit ${MAXIMUM_LISTED_KEYS}`
}

/** Keys of every status, latest start first. */
export async function listAllKeys(queries: Queries, purpose: PlatformKeyPurpose): Promise<PlatformKeyRow[]> {
  return queries<PlatformKeyRow[]>`
    select ${COLUMNS} from platform_key where purpose = ${purpose}
    order by standby, valid_from desc, created_at desc, key_id
    limit ${MAXIMUM_LISTED_KEYS}`
}

export async function purposeOf(queries: Queries, keyId: string): Promise<PlatformKeyPurpose | undefined> {
  const [row] = await queries<{ purpose: PlatformKeyPurpose }[]>`
    select purpose from platform_key where key_id = ${keyId}`
  return row?.purpose
}

/** Repeated rotation must not push the signing key out of the list. */
export async function requireRoomForKey(
  tx: Transaction,
  purpose: PlatformKeyPurpose,
  now: string,
): Promise<void> {
  const published = await listPublishedKeys(tx, purpose, now)
  if (published.length >= MAXIMUM_PUBLISHED_KEYS)
    throw new Problem('quota_reached', { quota: 'platform_keys', maximum: MAXIMUM_PUBLISHED_KEYS })
  if (purpose === 'log' && (await listUsableKeys(tx, purpose, now)).length >= MAXIMUM_LOG_KEYS)
    throw new Problem('quota_reached', { quota: 'log_keys', maximum: MAXIMUM_LOG_KEYS })
}

/** False if no such key could still sign. */
export async function markRevoked(
  tx: Transaction,
  { purpose, keyId, now }: { purpose: PlatformKeyPurpose; keyId: string; now: string },
): Promise<boolean> {
  const { count } = await tx`
    update platform_key set status = 'revoked', revoked_at = ${now}, invalid_from = ${now}, standby = false
    where key_id = ${keyId} and purpose = ${purpose} and status in ('active', 'retiring') and valid_until > ${now}`
  return count > 0
}

export async function insertKey(tx: Transaction, row: PlatformKeyRow): Promise<void> {
  await tx`
    insert into platform_key
      (key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at, standby)
    values
      (${row.key_id}, ${row.purpose}, ${row.public_jwk}, ${Buffer.from(row.private_key_encrypted)}, ${row.valid_from},
       ${row.valid_until}, ${row.status}, ${row.created_at}, ${row.standby})`
}

export type EncryptedKey = Pick<PlatformKeyRow, 'key_id' | 'private_key_encrypted'>

/** The private part of every key, whatever its status. */
export async function listEncryptedKeys(tx: Transaction): Promise<EncryptedKey[]> {
  return tx<EncryptedKey[]>`select key_id, private_key_encrypted from platform_key order by key_id`
}

export async function findEncryptedKey(queries: Queries): Promise<EncryptedKey | undefined> {
  const [row] = await queries<EncryptedKey[]>`
    select key_id, private_key_encrypted from platform_key order by created_at desc, key_id limit 1`
  return row
}

export async function replaceEncrypted(
  tx: Transaction,
  { key_id, private_key_encrypted }: EncryptedKey,
): Promise<void> {
  await tx`
    update platform_key set private_key_encrypted = ${Buffer.from(private_key_encrypted)} where key_id = ${key_id}`
}

/** Active keys but `keep` and standby keys become retiring, and end at the given time or earlier. */
export async function retireOthers(
  tx: Transaction,
  { purpose, keep, until }: { purpose: PlatformKeyPurpose; keep: string; until: string },
): Promise<void> {
  await tx`
    update platform_key set status = 'retiring', valid_until = least(valid_until, ${until}::timestamptz)
    where purpose = ${purpose} and status = 'active' and not standby and key_id <> ${keep}`
}

/** Marks ended keys. Readers compare times and do not depend on the mark. */
export async function markRetired(tx: Transaction, now: string): Promise<number> {
  const { count } = await tx`
    update platform_key set status = 'retired' where status in ('active', 'retiring') and valid_until <= ${now}`
  return count
}

export async function endStandby(tx: Transaction, keyId: string): Promise<void> {
  await tx`update platform_key set standby = false where key_id = ${keyId}`
}

/**
 * The signing key: the newest one that has started. A retiring key may have the latest start, if a standby key replaced
 * it in an emergency.
 */
export function currentOf(rows: readonly PlatformKeyRow[], now: string): PlatformKeyRow | undefined {
  return newestOf(rows.filter((row) => !row.standby && hasStarted(row, now)))
}

export function newestOf(rows: readonly PlatformKeyRow[]): PlatformKeyRow | undefined {
  return rows.find(({ status }) => status === 'active') ?? rows[0]
}

export function hasStarted(row: PlatformKeyRow, now: string): boolean {
  return secondsBetween(row.valid_from, now) >= 0
}

export function toPublicKey(row: PlatformKeyRow): PublicKey {
  return {
    key_id: row.key_id,
    use: 'signing',
    format: 'jwk',
    public_key: publicJwkOf(row),
    valid_from: row.valid_from,
    valid_until: row.valid_until,
    status: row.status,
    registered_at: row.created_at,
    ...(row.revoked_at !== null && { revoked_at: row.revoked_at }),
    ...(row.invalid_from !== null && { invalid_from: row.invalid_from }),
  }
}

export function toListedKey(row: PlatformKeyRow): ListedKey {
  const token = tokenOf(row)
  return {
    ...toPublicKey(row),
    ...(row.standby && { standby: true as const }),
    held_in: token === undefined ? 'database' : `token ${token}`,
  }
}

export function publicJwkOf(row: PlatformKeyRow): PublicJwk {
  return JSON.parse(row.public_jwk) as PublicJwk
}
