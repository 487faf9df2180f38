import { type Database, inTransaction, isLockTimeout, type Transaction } from '@agent-exchange/database'

/** Rows deleted by one statement: short locks, and room for others between the steps. */
export const STEP_ROWS = 1_000
/** Advisory lock of the process that removes. */
export const RETENTION_LOCK = 4_817_202_611

export interface Step {
  readonly removed: number
  readonly hasMore: boolean
}

/** A task whose every row is one to remove only counts them. */
export type Task = (tx: Transaction) => Promise<number | Step>

/** One transaction under the lock of retention. Undefined: another process holds that lock. */
export function inRetention<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T | undefined> {
  return inTransaction(db, async (tx) => {
    const [lock] = await tx<{ free: boolean }[]>`select pg_try_advisory_xact_lock(${RETENTION_LOCK}) as free`
    if (!lock?.free) return undefined
    // All statements of the work are planned by index, too.
    await tx.byIndex`select set_config('aex.retention', 'on', true)`
    return work(tx)
  })
}

/** Undefined if a lock is not free: that ends the task, and the next run tries again. */
export async function inOneStep(db: Database, task: Task): Promise<Step | undefined> {
  const done = await unlessLocked(() => inRetention(db, task))
  return typeof done === 'number' ? { removed: done, hasMore: done >= STEP_ROWS } : done
}

/** Undefined if the work gave up waiting for a lock. */
export async function unlessLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return undefined
  }
}

/** Requests queue behind a lock that waits, so the wait must be shorter than anybody notices. */
export async function limitLockWaits(tx: Transaction): Promise<void> {
  await tx`set local lock_timeout = '200ms'`
}
