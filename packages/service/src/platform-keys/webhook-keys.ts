import { createHash } from 'node:crypto'
import type { SigningKey } from '@agent-exchange/crypto'
import type { DeploymentProfile, NotificationKeyDirectory, PublicKey } from '@agent-exchange/protocol'
import { LRUCache } from 'lru-cache'
import type { Queries, Transaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter, secondsBetween } from '@agent-exchange/server/clock'
import { lockNames } from '../kernel/named-locks.ts'
import {
  currentOf,
  endStandby,
  hasStarted,
  insertKey,
  listAllKeys,
  type ListedKey,
  listPublishedKeys,
  listUsableKeys,
  markRetired,
  markRevoked,
  newestOf,
  type PlatformKeyRow,
  requireRoomForKey,
  retireOthers,
  toListedKey,
  toPublicKey,
} from './key-store.ts'
import type { KeyVault } from './key-vault.ts'

/** Lock for making platform keys: one process at a time. */
export const PLATFORM_KEYS_LOCK = 'platform keys'

const MAXIMUM_CACHED_KEYS = 64
/** A key is renewed automatically in this last part of its lifetime. */
const RENEWAL_SHARE = 1 / 8
/** Maximum lead as a part of the lifetime, so that a key shorter than the lead is not renewed continuously. */
const LARGEST_LEAD_SHARE = 1 / 4
/** A renewed key starts this long before its predecessor ends: the maximum lifetime of a signature. */
const RENEWAL_OVERLAP_SECONDS = 300
const VERSION_CHARACTERS = 32

/** Webhook signing keys (ID-08, EVT-13). All state is in the database, so every replica sees a rotation at once. */
export interface WebhookKeys {
  /** Includes the next key, the standby key, and keys that were revoked before their end. */
  directory(queries: Queries, now: string): Promise<NotificationKeyDirectory>
  /** The key for new endpoints: the newest one that was published long enough ago (O-38 lead_seconds). */
  currentKeyId(queries: Queries, now: string): Promise<string>
  /** Undefined if the key may not sign now: unknown, too new, ended or revoked. */
  signingKey(queries: Queries, keyId: string, now: string): Promise<SigningKey | undefined>
  /** Publishes the next key at once, in the caller's transaction together with its log entry. */
  rotate(tx: Transaction, now: string): Promise<ListedKey>
  /** Keys of every status, the newest first. */
  list(queries: Queries): Promise<ListedKey[]>
  /**
   * Emergency: the key signs nothing from now on. If it was the current one, the standby key, which receivers already
   * know, replaces it at once. Undefined if no such key could still sign.
   */
  revoke(tx: Transaction, keyId: string, now: string): Promise<ListedKey | undefined>
  /** Retires ended keys, renews the current key before its end, keeps a standby key. Run it at start and daily. */
  maintain(tx: Transaction, now: string): Promise<{ retired: number; renewed: string | undefined }>
}

export function webhookKeys(profile: DeploymentProfile, vault: KeyVault): WebhookKeys {
  const { lead_seconds, validity_days, retiring_days } = profile['O-38']
  const validitySeconds = validity_days * DAY_SECONDS
  const renewalSeconds =
    Math.min(lead_seconds, validitySeconds * LARGEST_LEAD_SHARE) + validitySeconds * RENEWAL_SHARE
  // The key material of an id never changes; whether it may sign is read each time.
  const opened = new LRUCache<string, SigningKey>({ max: MAXIMUM_CACHED_KEYS })

  async function signingKey(queries: Queries, keyId: string, now: string) {
    const row = (await listUsableKeys(queries, 'webhook', now)).find((each) => each.key_id === keyId)
    if (!row || !hasStarted(row, now)) return undefined
    const cached = opened.get(keyId)
    if (cached) return cached
    const key = await vault.open(row)
    opened.set(keyId, { key, keyId })
    return { key, keyId }
  }

  async function insertNew(tx: Transaction, validFrom: string, { now, standby }: Made) {
    const row = await vault.newKey(tx, { purpose: 'webhook', validFrom, validitySeconds, now, standby })
    await insertKey(tx, row)
    return row
  }

  /** Makes the next key; the others become retiring. */
  async function succeed(tx: Transaction, validFrom: string, now: string) {
    const next = await insertNew(tx, validFrom, { now, standby: false })
    await retireFor(tx, next, now)
    return next
  }

  async function retireFor(tx: Transaction, next: PlatformKeyRow, now: string): Promise<void> {
    const until = secondsAfter(hasStarted(next, now) ? now : next.valid_from, retiring_days * DAY_SECONDS)
    await retireOthers(tx, { purpose: 'webhook', keep: next.key_id, until })
  }

  /** Starts after the lead time, but no later than the current key ends. */
  function startOfNext(newest: PlatformKeyRow | undefined, now: string): string {
    if (!newest) return now
    return secondsAfter(now, Math.min(lead_seconds, secondsBetween(now, newest.valid_until)))
  }

  /**
   * As late as possible: a receiver that refreshes its pinned directory before valid_until, as the webhook profile
   * requires, then knows the new key.
   */
  function startOfRenewal(newest: PlatformKeyRow, now: string): string {
    const latest = secondsAfter(newest.valid_until, -RENEWAL_OVERLAP_SECONDS)
    return latest < now ? startOfNext(newest, now) : latest
  }

  const lasts = (row: PlatformKeyRow, now: string) => secondsBetween(now, row.valid_until) > renewalSeconds

  /** The standby key becomes the current one. A successor that is already published still starts at its time. */
  async function useStandby(tx: Transaction, rows: readonly PlatformKeyRow[], now: string): Promise<string> {
    // Most receivers know the standby key that was published first.
    const standby = rows.findLast((row) => row.standby && hasStarted(row, now))
    if (!standby) return (await succeed(tx, now, now)).key_id
    await endStandby(tx, standby.key_id)
    const successor = rows.find((row) => !row.standby && row.status === 'active' && !hasStarted(row, now))
    await retireFor(tx, successor ?? standby, now)
    return standby.key_id
  }

  /** Ensures a signing key, a successor in time, and a standby key. Returns the signing key if it made one. */
  async function complete(tx: Transaction, now: string): Promise<string | undefined> {
    let rows = await listUsableKeys(tx, 'webhook', now)
    let begun: string | undefined
    if (!currentOf(rows, now)) {
      begun = await useStandby(tx, rows, now)
      rows = await listUsableKeys(tx, 'webhook', now)
    }
    if (!rows.some((row) => row.standby && lasts(row, now))) await insertNew(tx, now, { now, standby: true })
    const newest = newestOf(rows.filter((row) => !row.standby))
    if (!newest || lasts(newest, now)) return begun
    return (await succeed(tx, startOfRenewal(newest, now), now)).key_id
  }

  return {
    signingKey,
    async rotate(tx, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      await requireRoomForKey(tx, 'webhook', now)
      const newest = newestOf((await listUsableKeys(tx, 'webhook', now)).filter((row) => !row.standby))
      return toListedKey(await succeed(tx, startOfNext(newest, now), now))
    },
    async directory(queries, now) {
      const keys = (await listPublishedKeys(queries, 'webhook', now)).map(toPublicKey)
      return { directory_version: versionOf(keys), generated_at: now, keys }
    },
    async currentKeyId(queries, now) {
      const current = currentOf(await listUsableKeys(queries, 'webhook', now), now)
      if (!current) throw new Error('No webhook key may sign now; maintain() makes one.')
      return current.key_id
    },
    async list(queries) {
      return (await listAllKeys(queries, 'webhook')).map(toListedKey)
    },
    async revoke(tx, keyId, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      const rows = await listUsableKeys(tx, 'webhook', now)
      const isCurrent = currentOf(rows, now)?.key_id === keyId
      if (!(await markRevoked(tx, { purpose: 'webhook', keyId, now }))) return undefined
      const left = rows.filter((row) => row.key_id !== keyId)
      if (isCurrent) await useStandby(tx, left, now)
      await complete(tx, now)
      return (await listAllKeys(tx, 'webhook')).map(toListedKey).find((key) => key.key_id === keyId)
    },
    async maintain(tx, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      const retired = await markRetired(tx, now)
      return { retired, renewed: await complete(tx, now) }
    },
  }
}

interface Made {
  readonly now: string
  readonly standby: boolean
}

/** Changes if and only if the listed keys change, without a counter. */
function versionOf(keys: readonly PublicKey[]): string {
  const listed = keys.map((key) => [key.key_id, key.status, key.valid_from, key.valid_until, key.revoked_at])
  return createHash('sha256').update(JSON.stringify(listed)).digest('hex').slice(0, VERSION_CHARACTERS)
}
