import type { Database, Queries, Transaction } from '@agent-exchange/database'
import { type Clock, DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { lockNames } from '../kernel/named-locks.ts'
import {
  currentOf,
  insertKey,
  listAllKeys,
  type ListedKey,
  listUsableKeys,
  markRevoked,
  type PlatformKeyPurpose,
  type PlatformKeyRow,
  requireRoomForKey,
  retireOthers,
  toListedKey,
} from './key-store.ts'
import type { KeyVault, NewKey } from './key-vault.ts'
import { PLATFORM_KEYS_LOCK } from './webhook-keys.ts'

/** Token and statement keys have no announced end before their rotation; this value only fills the column. */
const LONG_VALIDITY_SECONDS = 3_650 * DAY_SECONDS
/** Maximum age of the cached keys: after this time every process knows of a rotation or revocation. */
const KEYS_FRESH_MS = 5_000
/** Minimum time between two reads, also when tokens name unknown key ids. */
const KEYS_COOLDOWN_MS = 1_000

/** A key that must sign at once is backdated, because the clocks of processes differ. */
const CLOCK_TOLERANCE_SECONDS = 60

export interface RotationTimes {
  /** Time between publishing a key and signing with it. */
  readonly leadSeconds: number
  /** Time after which the earlier key no longer verifies. */
  readonly keepSeconds: number
}

/** Changes in the same transaction, and the choice of an id. */
export interface KeyHooks {
  readonly onMade?: (
    tx: Transaction,
    key: PlatformKeyRow,
    replaced: PlatformKeyRow | undefined,
  ) => Promise<void>
  readonly onRevoked?: (tx: Transaction, keyId: string, now: string) => Promise<void>
  readonly keyIdOf?: (predecessor: PlatformKeyRow | undefined) => NewKey['keyIdOf']
}

interface RotatingKeySettings extends KeyHooks {
  readonly purpose: PlatformKeyPurpose
  readonly db: Database
  readonly vault: KeyVault<unknown>
  readonly clock: Clock
  readonly times: RotationTimes
  /** After every change, in the same transaction. */
  readonly onChanged?: (tx: Transaction, now: string) => Promise<void>
}

/** The usable keys of one purpose. */
export interface KeySet {
  /** The signing key comes first. */
  readonly keys: readonly PlatformKeyRow[]
  /** Changes whenever the keys or the signing key change. */
  readonly version: string
}

/** Token, statement or log keys: one signs, and earlier ones still verify for a time. */
export interface RotatingKeys {
  /** Cached for a few seconds. If the key `atLeast` is not among them, they are read again. */
  current(atLeast?: string): Promise<KeySet>
  /** Publishes the next key at once. */
  rotate(tx: Transaction, now: string): Promise<ListedKey>
  /** Ends signing and verification with this key. If it was the signing key, a new one replaces it at once. */
  revoke(tx: Transaction, keyId: string, now: string): Promise<ListedKey | undefined>
  list(queries: Queries): Promise<ListedKey[]>
  /** Makes the first key at start. */
  ensure(tx: Transaction, now: string): Promise<readonly PlatformKeyRow[]>
}

export function rotatingKeys(settings: RotatingKeySettings): RotatingKeys {
  const { purpose, db, vault, clock, times, onMade, onRevoked, onChanged, keyIdOf } = settings
  let read: { at: number; rows: Promise<PlatformKeyRow[]> } | undefined

  function rowsWithin(milliseconds: number): Promise<PlatformKeyRow[]> {
    const at = clock.monotonicMilliseconds()
    if (read && at - read.at < milliseconds) return read.rows
    const next = { at, rows: listUsableKeys(db, purpose, clock.now()) }
    read = next
    next.rows.catch(() => {
      if (read === next) read = undefined
    })
    return next.rows
  }

  async function make(tx: Transaction, validFrom: string, now: string, predecessor?: PlatformKeyRow) {
    const wanted = { purpose, validFrom, validitySeconds: LONG_VALIDITY_SECONDS, now }
    const named = keyIdOf?.(predecessor)
    const row = await vault.newKey(tx, { ...wanted, ...(named && { keyIdOf: named }) })
    await insertKey(tx, row)
    const until = secondsAfter(validFrom, KEYS_FRESH_MS / 1_000 + times.keepSeconds)
    await retireOthers(tx, { purpose, keep: row.key_id, until })
    await onMade?.(tx, row, predecessor)
    await onChanged?.(tx, now)
    return row
  }

  return {
    async current(atLeast) {
      let rows = await rowsWithin(KEYS_FRESH_MS)
      const isThere = atLeast === undefined || rows.some(({ key_id }) => key_id === atLeast)
      if (!isThere) rows = await rowsWithin(KEYS_COOLDOWN_MS)
      return keySetOf(rows, clock.now())
    },
    async rotate(tx, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      await requireRoomForKey(tx, purpose, now)
      const current = currentOf(await listUsableKeys(tx, purpose, now), now)
      return toListedKey(await make(tx, secondsAfter(now, times.leadSeconds), now, current))
    },
    async revoke(tx, keyId, now) {
      await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
      const isCurrent = currentOf(await listUsableKeys(tx, purpose, now), now)?.key_id === keyId
      if (!(await markRevoked(tx, { purpose, keyId, now }))) return undefined
      await onRevoked?.(tx, keyId, now)
      if (isCurrent) await make(tx, tolerant(now), now)
      else await onChanged?.(tx, now)
      return (await listAllKeys(tx, purpose)).map(toListedKey).find((key) => key.key_id === keyId)
    },
    async list(queries) {
      return (await listAllKeys(queries, purpose)).map(toListedKey)
    },
    async ensure(tx, now) {
      const rows = await listUsableKeys(tx, purpose, now)
      for (const row of rows) await vault.open(row)
      return rows.length > 0 ? rows : [await make(tx, tolerant(now), now)]
    },
  }
}

function tolerant(now: string): string {
  return secondsAfter(now, -CLOCK_TOLERANCE_SECONDS)
}

function keySetOf(rows: readonly PlatformKeyRow[], now: string): KeySet {
  const signing = currentOf(rows, now)
  if (!signing) throw new Error('No platform key may sign now.')
  const keys = [signing, ...rows.filter((row) => row !== signing)]
  return { keys, version: keys.map(({ key_id }) => key_id).join() }
}
