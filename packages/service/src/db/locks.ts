import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Queries, Transaction } from './database.ts'

/**
 * Advisory locks by name, held to the end of the transaction. They serialize work on things that may not exist
 * yet, and cost no write. Spaces are locked in the order in which they stand here, names in one order of
 * their numbers, so that no two transactions wait for each other.
 *
 * Each function sends its statement when it is called. The server works through a connection's statements one after
 * the other, so what is sent next runs under the lock, also where nobody has waited for it in between.
 */
export const LOCK_SPACES = ['claim', 'key', 'thread', 'worker'] as const
export type LockSpace = (typeof LOCK_SPACES)[number]

/** Waits for all of the names. */
export async function lockNames(tx: Transaction, space: LockSpace, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await tx`
    select pg_advisory_xact_lock(number) from unnest(${numbers(space, names)}::text[]::bigint[]) as number`
}

/** Waits until nobody holds any of the names exclusively; others may share them. */
export async function shareNames(tx: Transaction, space: LockSpace, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await tx`
    select pg_advisory_xact_lock_shared(number)
    from unnest(${numbers(space, names)}::text[]::bigint[]) as number`
}

/** Takes what is free and returns the names that somebody else holds. */
export async function tryNames(
  tx: Transaction,
  space: LockSpace,
  names: readonly string[],
): Promise<Set<string>> {
  const byNumber = new Map(names.map((name) => [numberOf(space, name), name]))
  const held = await tx<{ number: string }[]>`
    select number::text from unnest(${sorted([...byNumber.keys()])}::text[]::bigint[]) as number
    where not pg_try_advisory_xact_lock(number)`
  return new Set(held.map(({ number }) => byNumber.get(number) ?? ''))
}

/** Which of the names nobody holds at this moment, not even the caller. */
export async function freeNames(db: Queries, space: LockSpace, names: readonly string[]): Promise<string[]> {
  const byNumber = new Map(names.map((name) => [numberOf(space, name), name]))
  // Shared, so that those who ask at the same time do not take each other for the holder.
  const free = await db<{ number: string }[]>`
    select number::text from unnest(${[...byNumber.keys()]}::text[]::bigint[]) as number
    where pg_try_advisory_xact_lock_shared(number)`
  return free.map(({ number }) => byNumber.get(number) ?? '')
}

function numbers(space: LockSpace, names: readonly string[]): string[] {
  return sorted([...new Set([...new Set(names)].map((name) => numberOf(space, name)))])
}

const MAXIMUM_KNOWN_KEYS = 20_000

/** A key is named by every package that it signs or seals: its number is made once. */
const numbersOfKeys = new LRUCache<string, string>({
  max: MAXIMUM_KNOWN_KEYS,
  memoMethod: (name) => makeNumber('key', name),
})

export function numberOf(space: LockSpace, name: string): string {
  return space === 'key' ? numbersOfKeys.memo(name) : makeNumber(space, name)
}

function makeNumber(space: LockSpace, name: string): string {
  return hash('sha256', `${space}\0${name}`, 'buffer').readBigInt64BE().toString()
}

/** Any order does that is the same everywhere: this one is that of texts. */
function sorted(list: string[]): string[] {
  return list.toSorted()
}
