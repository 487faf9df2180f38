import type { Database, Transaction } from './database.ts'
import { PLAN_OUTDATED, sqlState } from './sql-state.ts'

/**
 * serialization_failure and deadlock_detected: the server rolled back, and the same work may pass next time. So it
 * may after a unique_violation: whoever looked before inserting now finds the other's row, and can say so.
 */
const PASSING_FAILURES = new Set(['40001', '40P01', '23505', PLAN_OUTDATED])
const MAXIMUM_TRIES = 5

/** Runs the work in one transaction; repeats it where the server asks for that. */
export async function inTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.begin(work)
    } catch (error) {
      if (tries >= MAXIMUM_TRIES || !PASSING_FAILURES.has(sqlState(error) ?? '')) throw error
    }
  }
}
