import type { Database, Queries, Transaction } from '../db/database.ts'
import { lockNames } from '../db/locks.ts'
import { type Clock, DAY_SECONDS, secondsAfter } from './clock.ts'
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
} from './platform-keys-store.ts'
import type { KeyVault, NewKey } from './platform-keys-vault.ts'
import { PLATFORM_KEYS_LOCK } from './platform-keys-webhook.ts'

/** Keys for tokens and statements have no announced end before they are rotated; this only fills the column. */
const LONG_VALIDITY_SECONDS = 3_650 * DAY_SECONDS
/** Every process reads the keys again after this time: so long after a rotation or revocation all of them know of it. */
const KEYS_FRESH_MS = 5_000
/** Not even a stranger's token with an unknown key id makes it read them more often. */
const KEYS_COOLDOWN_MS = 1_000

/** A key that has to sign at once is valid a little earlier, since the clocks of processes differ. */
const CLOCK_TOLERANCE_SECONDS = 60

export interface RotationTimes {
  /** Between publishing a key and signing with it. */
  readonly leadSeconds: number
  /** How long the earlier key is kept after that, for what it has signed. */
  readonly keepSeconds: number
}

interface RotatingKeySettings {
  readonly purpose: PlatformKeyPurpose
  readonly db: Database
  readonly vault: KeyVault
  readonly clock: Clock
  readonly times: RotationTimes
  /** What else has to change with them, in the same transaction. */
  readonly onMade?: (
    tx: Transaction,
    key: PlatformKeyRow,
    replaced: PlatformKeyRow | undefined,
  ) => Promise<void>
  readonly onRevoked?: (tx: Transaction, keyId: string, now: string) => Promise<void>
  readonly keyIdOf?: (predecessor: PlatformKeyRow | undefined) => NewKey['keyIdOf']
}

/** The keys of one purpose as they are now. */
export interface KeySet {
  /** The one that signs now comes first. */
  readonly keys: readonly PlatformKeyRow[]
  /** Another one whenever what it holds, or which one signs, has changed. */
  readonly version: string
}

/** Keys of which one signs at a time, and earlier ones verify for a while: those for tokens and for statements. */
export interface RotatingKeys {
  /** As read a few seconds ago at most; `atLeast`: where this key is not among them, they are read again. */
  current(atLeast?: string): Promise<KeySet>
  /** Publishes the next key at once. */
  rotate(tx: Transaction, now: string): Promise<ListedKey>
  /** This key neither signs nor verifies any more. Where it was the one in use, another takes its place at once. */
  revoke(tx: Transaction, keyId: string, now: string): Promise<ListedKey | undefined>
  list(queries: Queries): Promise<ListedKey[]>
  /** At the start: there is one. */
  ensure(tx: Transaction, now: string): Promise<readonly PlatformKeyRow[]>
}

export function rotatingKeys(settings: RotatingKeySettings): RotatingKeys {
  const { purpose, db, vault, clock, times, onMade, onRevoked, keyIdOf } = settings
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
    const row = await vault.newKey({ ...wanted, ...(named && { keyIdOf: named }) })
    await insertKey(tx, row)
    const until = secondsAfter(validFrom, KEYS_FRESH_MS / 1_000 + times.keepSeconds)
    await retireOthers(tx, { purpose, keep: row.key_id, until })
    await onMade?.(tx, row, predecessor)
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
      return (await listAllKeys(tx, purpose)).map(toListedKey).find((key) => key.key_id === keyId)
    },
    async list(queries) {
      return (await listAllKeys(queries, purpose)).map(toListedKey)
    },
    async ensure(tx, now) {
      const rows = await listUsableKeys(tx, purpose, now)
      for (const row of rows) vault.privateJwk(row)
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
