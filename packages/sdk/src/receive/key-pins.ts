import { compareInstants, parseInstant, type NotificationKeyDirectory } from '@agent-exchange/protocol'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { FIXED_LIMITS } from './receive-limits.ts'

/** A notification key as last listed by the directory. */
export interface PinnedNotificationKey extends DirectoryKey {
  readonly first_seen_at: string
  /** When it left the directory. It signs nothing new, and still proves earlier signatures. */
  readonly left_directory_at?: string
}

export interface NotificationPins {
  readonly directory_version: string
  readonly generated_at: string
  readonly fetched_at: string
  readonly keys: readonly PinnedNotificationKey[]
}

/**
 * Merges a new directory into the pins. A key that left is kept for history. Changed key material under the same id is
 * refused.
 */
export function mergePins(
  pins: NotificationPins | undefined,
  directory: NotificationKeyDirectory,
  now: string,
): NotificationPins {
  if (directory.keys.length > FIXED_LIMITS.directoryKeys) {
    throw new ExchangeError('exchange_answer_unreadable', { what: 'The directory lists too many keys.' })
  }
  const known = new Map((pins?.keys ?? []).map((key) => [key.key_id, key]))
  const listed = directory.keys.map((key): PinnedNotificationKey => {
    const before = known.get(key.key_id)
    if (before && !sameMaterial(before, key)) throw changed(key.key_id)
    known.delete(key.key_id)
    return { ...key, first_seen_at: before?.first_seen_at ?? now }
  })
  const left = [...known.values()].map((key) => ({ ...key, left_directory_at: key.left_directory_at ?? now }))
  return {
    directory_version: directory.directory_version,
    generated_at: directory.generated_at,
    fetched_at: now,
    keys: [...listed, ...newest(left)].slice(0, FIXED_LIMITS.directoryKeys + FIXED_LIMITS.keptKeys),
  }
}

/** When to read the directory again: after the interval, and before the first key expires. */
export function refreshDueAt(pins: NotificationPins, intervalMs: number): number {
  const fetched = Date.parse(pins.fetched_at)
  const ends = pins.keys
    .filter(({ left_directory_at, valid_until }) => left_directory_at === undefined && valid_until)
    .map(({ valid_until = '' }) => Date.parse(valid_until) - FIXED_LIMITS.keyRefreshLeadMs)
  const earliest = Math.min(fetched + intervalMs, ...ends)
  return Math.max(earliest, fetched + Math.min(intervalMs, FIXED_LIMITS.keyRefreshRetryMs))
}

function sameMaterial(a: DirectoryKey, b: DirectoryKey): boolean {
  return (['kty', 'crv', 'x', 'y'] as const).every((member) => a.public_key[member] === b.public_key[member])
}

function newest(keys: readonly PinnedNotificationKey[]): PinnedNotificationKey[] {
  const at = ({ left_directory_at = '' }: PinnedNotificationKey) =>
    parseInstant(left_directory_at) ?? { seconds: 0, fraction: '' }
  return keys.toSorted((a, b) => compareInstants(at(b), at(a))).slice(0, FIXED_LIMITS.keptKeys)
}

function changed(keyId: string): ExchangeError {
  const what = 'The directory shows other material under the id of a pinned notification key.'
  return new ExchangeError('notification_keys_changed', { what, details: { key_id: keyId } })
}
