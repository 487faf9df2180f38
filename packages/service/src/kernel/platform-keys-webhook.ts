import { createHash } from 'node:crypto'
import { importPrivateJwk, type SigningKey } from '@agent-exchange/crypto'
import type { DeploymentProfile, NotificationKeyDirectory, PublicKey } from '@agent-exchange/protocol'
import { LRUCache } from 'lru-cache'
import type { Queries, Transaction } from '../db/database.ts'
import { lockNames } from '../db/locks.ts'
import { DAY_SECONDS, secondsAfter, secondsBetween } from './clock.ts'
import {
  insertKey,
  listAllKeys,
  listUsableKeys,
  markRetired,
  markRevoked,
  type PlatformKeyHistory,
  type PlatformKeyRow,
  publicJwkOf,
  retireOthers,
} from './platform-keys-store.ts'
import type { KeyVault } from './platform-keys-vault.ts'

/** The lock under which platform keys are made; one process at a time. */
export const PLATFORM_KEYS_LOCK = 'platform keys'

const MAXIMUM_CACHED_KEYS = 64
/** The last part of a key's life in which its successor is made without being asked for. */
const RENEWAL_SHARE = 1 / 8
/** A renewed key begins to sign this long before its predecessor ends: as long as a signature lives at most. */
const RENEWAL_OVERLAP_SECONDS = 300
const VERSION_CHARACTERS = 32

/** A key as the operator sees it: also those that have ended. */
export type ListedKey = PublicKey & { readonly revoked_at?: string }

/** The keys that sign webhooks (ID-08, EVT-13). All state is in the database: every replica sees a rotation at once. */
export interface WebhookKeys {
  directory(queries: Queries, now: string): Promise<NotificationKeyDirectory>
  /** The key for new endpoints: the newest that is old enough to be known (O-38 lead_seconds). */
  currentKeyId(queries: Queries, now: string): Promise<string>
  /** Undefined where the key may not sign now: unknown, too new, ended or revoked. */
  signingKey(queries: Queries, keyId: string, now: string): Promise<SigningKey | undefined>
  /** Publishes the next key at once. In the caller's transaction, so that a log entry can share it. */
  rotate(tx: Transaction, now: string): Promise<PublicKey>
  /** Keys of every status, the newest first. */
  list(queries: Queries): Promise<ListedKey[]>
  /**
   * For an emergency: this key signs nothing from now on, and leaves the directory. Where no other one may sign yet,
   * one is made that does at once. Undefined where there is no such key that could still sign.
   */
  revoke(tx: Transaction, keyId: string, now: string): Promise<ListedKey | undefined>
  /** Marks ended keys as retired and renews in time a key that nobody rotated. Run it at start and daily. */
  maintain(tx: Transaction, now: string): Promise<{ retired: number; renewed: boolean }>
}

export function webhookKeys(profile: DeploymentProfile, vault: KeyVault): WebhookKeys {
  const { lead_seconds, validity_days, retiring_days } = profile['O-38']
  const validitySeconds = validity_days * DAY_SECONDS
  // The material of a key id never changes; whether it may sign is read each time.
  const opened = new LRUCache<string, SigningKey>({ max: MAXIMUM_CACHED_KEYS })

  async function signingKey(queries: Queries, keyId: string, now: string) {
    const row = (await listUsableKeys(queries, 'webhook', now)).find((each) => each.key_id === keyId)
    if (!row || !hasStarted(row, now)) return undefined
    const cached = opened.get(keyId)
    if (cached) return cached
    const key = await importPrivateJwk(vault.privateJwk(row), { use: 'signing' })
    opened.set(keyId, { key, keyId })
    return { key, keyId }
  }

  async function rotate(tx: Transaction, now: string) {
    await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
    const newest = newestOf(await listUsableKeys(tx, 'webhook', now))
    return toPublicKey(await succeed(tx, startOfNext(newest, now), now))
  }

  /** Makes the next key; the others retire. */
  async function succeed(tx: Transaction, validFrom: string, now: string) {
    const next = await insertNew(tx, validFrom, now)
    const until = secondsAfter(next.valid_from, retiring_days * DAY_SECONDS)
    await retireOthers(tx, { purpose: 'webhook', keep: next.key_id, until })
    return next
  }

  async function insertNew(tx: Transaction, validFrom: string, now: string) {
    const row = await vault.newKey({ purpose: 'webhook', validFrom, validitySeconds, now })
    await insertKey(tx, row)
    return row
  }

  /** Published before it signs, but never so late that no key is left to sign with. */
  function startOfNext(newest: PlatformKeyRow | undefined, now: string): string {
    if (!newest) return now
    return secondsAfter(now, Math.min(lead_seconds, secondsBetween(now, newest.valid_until)))
  }

  /**
   * As late as possible: whoever pinned the directory and refreshes it before valid_until, as the profile of webhooks
   * asks for, then knows the new key, however early or late that was.
   */
  function startOfRenewal(newest: PlatformKeyRow | undefined, now: string): string {
    const latest = newest && secondsAfter(newest.valid_until, -RENEWAL_OVERLAP_SECONDS)
    return latest === undefined || latest < now ? startOfNext(newest, now) : latest
  }

  return {
    rotate,
    signingKey,
    async directory(queries, now) {
      const rows = await listUsableKeys(queries, 'webhook', now)
      const keys = rows.map(toPublicKey)
      return { directory_version: versionOf(keys), generated_at: now, keys }
    },
    async currentKeyId(queries, now) {
      return currentOf(await listUsableKeys(queries, 'webhook', now), now).key_id
    },
    async list(queries) {
      return (await listAllKeys(queries, 'webhook')).map(toListedKey)
    },
    async revoke(tx, keyId, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      if (!(await markRevoked(tx, { purpose: 'webhook', keyId, now }))) return undefined
      const left = await listUsableKeys(tx, 'webhook', now)
      if (!left.some((row) => hasStarted(row, now))) await succeed(tx, now, now)
      return (await listAllKeys(tx, 'webhook')).map(toListedKey).find((key) => key.key_id === keyId)
    },
    async maintain(tx, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      const retired = await markRetired(tx, now)
      const newest = newestOf(await listUsableKeys(tx, 'webhook', now))
      if (
        newest &&
        secondsBetween(now, newest.valid_until) > lead_seconds + validitySeconds * RENEWAL_SHARE
      ) {
        return { retired, renewed: false }
      }
      await succeed(tx, startOfRenewal(newest, now), now)
      return { retired, renewed: true }
    },
  }
}

function currentOf(rows: readonly PlatformKeyRow[], now: string): PlatformKeyRow {
  const started = rows.filter((row) => hasStarted(row, now))
  const current = newestOf(started)
  if (!current) throw new Error('No webhook key may sign now; maintain() makes one.')
  return current
}

/** A key that retires may have the latest start, where another one was made in an emergency. */
function newestOf(rows: readonly PlatformKeyRow[]): PlatformKeyRow | undefined {
  return rows.find(({ status }) => status === 'active') ?? rows[0]
}

function hasStarted(row: PlatformKeyRow, now: string): boolean {
  return secondsBetween(row.valid_from, now) >= 0
}

function toPublicKey(row: PlatformKeyRow): PublicKey {
  return {
    key_id: row.key_id,
    use: 'signing',
    format: 'jwk',
    public_key: publicJwkOf(row),
    valid_from: row.valid_from,
    valid_until: row.valid_until,
    status: row.status,
    registered_at: row.created_at,
  }
}

function toListedKey(row: PlatformKeyHistory): ListedKey {
  return { ...toPublicKey(row), ...(row.revoked_at !== null && { revoked_at: row.revoked_at }) }
}

/** Changes if and only if what is listed changes, and needs no counter. */
function versionOf(keys: readonly PublicKey[]): string {
  const listed = keys.map((key) => [key.key_id, key.status, key.valid_from, key.valid_until])
  return createHash('sha256').update(JSON.stringify(listed)).digest('hex').slice(0, VERSION_CHARACTERS)
}
