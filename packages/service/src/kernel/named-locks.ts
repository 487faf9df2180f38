import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Queries, Transaction } from '@agent-exchange/database'

/**
 * Advisory locks by name, held until the end of the transaction. They serialize work on rows that may not exist yet,
 * and write nothing. To avoid deadlocks, spaces are locked in the order of this list, names in the order of their
 * numbers. Each function sends its statement when it is called, so the next statement of the transaction runs under
 * the lock, even if nobody has awaited the lock.
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

/** Locks the free names and returns those that another transaction holds. */
export async function tryNames(
  tx: Transaction,
  space: LockSpace,
  names: readonly string[],
): Promise<Set<string>> {
  const byNumber = new Map(names.map((name) => [numberOf(space, name), name]))
  const held = await tx<{ number: string }[]>`
    select number::text from unnest(${[...byNumber.keys()].toSorted()}::text[]::bigint[]) as number
    where not pg_try_advisory_xact_lock(number)`
  return new Set(held.map(({ number }) => byNumber.get(number) ?? ''))
}

/** The names that nobody holds at this moment, not even the caller. */
export async function freeNames(db: Queries, space: LockSpace, names: readonly string[]): Promise<string[]> {
  const byNumber = new Map(names.map((name) => [numberOf(space, name), name]))
  // Shared, so that concurrent callers do not take each other for the holder.
  const free = await db<{ number: string }[]>`
    select number::text from unnest(${[...byNumber.keys()]}::text[]::bigint[]) as number
    where pg_try_advisory_xact_lock_shared(number)`
  return free.map(({ number }) => byNumber.get(number) ?? '')
}

function numbers(space: LockSpace, names: readonly string[]): string[] {
  return [...new Set(names.map((name) => numberOf(space, name)))].toSorted()
}

const MAXIMUM_KNOWN_KEYS = 20_000

/** Every package names the keys that it uses, so their numbers are cached. */
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
