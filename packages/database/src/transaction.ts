import type { Connection } from './connection.ts'
import { copyStatement, type CopyTarget } from './copy.ts'
import {
  CommitInDoubt,
  ConnectionLost,
  missedItsPartition,
  PLAN_OUTDATED,
  sqlState,
  TransactionLost,
} from './database-errors.ts'
import { INDEX_SETTINGS, queriesOver, settingStatement, type Queries, type Send } from './queries.ts'

/** Statements of one transaction. */
export interface Transaction extends Queries {
  /** Inserts many rows at once by COPY. */
  copy<R>(target: CopyTarget<R>, rows: readonly R[]): Promise<void>
}

/** Starts transactions: each has a connection of its own, and refuses statements after its end. */
export interface Transactions {
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

/** What the end of a transaction waits for and calls. */
interface Ending {
  readonly deferred: Promise<unknown>[]
  readonly callbacks: ((outcome: TransactionOutcome) => void)[]
}

/** A property: a WeakMap would hold what the callbacks refer to, such as whole requests, until the next full collection. */
const ENDING = Symbol('ending')

function endingOf(tx: Transaction): Ending {
  const ending = (tx as Partial<Record<typeof ENDING, Ending>>)[ENDING]
  if (!ending) throw new Error('only a transaction has an end')
  return ending
}

/**
 * Awaits statements that were sent with the commit, which follows them without waiting for their answers. If one of
 * them fails, the transaction is rolled back and fails with its error.
 */
export function deferToCommit(tx: Transaction, ...statements: readonly Promise<unknown>[]): void {
  const { deferred } = endingOf(tx)
  for (const statement of statements) {
    // Awaited with the commit; this avoids an unhandled rejection.
    statement.catch(() => undefined)
    deferred.push(statement)
  }
}

/** `in_doubt`: the connection was lost before the commit was answered. */
export type TransactionOutcome = 'committed' | 'rolled_back' | 'in_doubt'

/** Calls back once the transaction has ended, however it ended. It must not throw. */
export function afterEnd(tx: Transaction, callback: (outcome: TransactionOutcome) => void): void {
  endingOf(tx).callbacks.push(callback)
}

/** Calls back once the transaction is committed, never after a rollback. It must not throw. */
export function afterCommit(tx: Transaction, callback: () => void): void {
  afterEnd(tx, (outcome) => {
    if (outcome === 'committed') callback()
  })
}

const USE_INDEXES = settingStatement(INDEX_SETTINGS)
/** in_failed_sql_transaction: the answer to every statement after the one that failed. */
const FAILED_BEFORE = '25P02'

export async function transact<T>(connection: Connection, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const { sql, transactionSettings } = connection
  let isOver = false
  let hasSentCommit = false
  let hasIndexPlans = false
  let failure: { readonly error: unknown } | undefined
  const note = (error: unknown) => void (failure ??= { error })
  const firstFailure = () => failure
  const send: Send = (write) => {
    const answer = isOver
      ? Promise.reject(new ConnectionLost('the transaction is over'))
      : connection.send(write)
    // A failure that nobody awaits still fails the transaction.
    answer.catch(note)
    return answer
  }
  const sendByIndex: Send = (write) => {
    if (!hasIndexPlans) void send(() => USE_INDEXES)
    hasIndexPlans = true
    return send(write)
  }
  const ending: Ending = { deferred: [], callbacks: [] }
  const tx = Object.assign(queriesOver(send, sendByIndex), {
    [ENDING]: ending,
    async copy<R>(target: CopyTarget<R>, rows: readonly R[]) {
      if (rows.length > 0) await send(() => copyStatement(target, rows))
    },
  })
  const report = (outcome: TransactionOutcome) => ending.callbacks.forEach((callback) => callback(outcome))
  sql`begin`.catch(note)
  if (transactionSettings) connection.send(() => transactionSettings).catch(note)
  try {
    const result = await work(tx)
    isOver = true
    if (failure) throw failure.error
    hasSentCommit = !connection.isLost
    const [{ command }] = await Promise.all([sql`commit`, ...ending.deferred])
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK.
    if (command !== 'COMMIT') {
      const cause = firstFailure()
      if (cause) throw cause.error
      throw new Error(`a transaction ended with ${command} instead of a commit`)
    }
    report('committed')
    return result
  } catch (error) {
    isOver = true
    // A connection that cannot roll back is not used again.
    if (!connection.isLost) await sql`rollback`.catch(() => connection.end())
    report(connection.isLost && hasSentCommit ? 'in_doubt' : 'rolled_back')
    if (connection.isLost) throw hasSentCommit ? new CommitInDoubt(error) : new TransactionLost(error)
    throw sqlState(error) === FAILED_BEFORE && failure ? failure.error : error
  }
}

/**
 * serialization_failure and deadlock_detected: the server rolled back, and the same work may pass next time. So it may
 * after unique_violation: work that reads before it inserts now finds the row of the other transaction.
 */
const PASSING_FAILURES = new Set(['40001', '40P01', '23505', PLAN_OUTDATED])
const MAXIMUM_TRIES = 5
/** More would only delay the answer while the database is away. */
const MAXIMUM_RECONNECTS = 1

/** Runs the work in one transaction, and repeats it after a failure that may pass. A commit in doubt is not repeated. */
export async function inTransaction<T>(db: Transactions, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let reconnects = 0
  for (let tries = 1; ; tries++) {
    try {
      return await db.begin(work)
    } catch (error) {
      const mayRepeat =
        error instanceof TransactionLost
          ? reconnects++ < MAXIMUM_RECONNECTS
          : PASSING_FAILURES.has(sqlState(error) ?? '') || missedItsPartition(error)
      if (tries >= MAXIMUM_TRIES || !mayRepeat) throw error
    }
  }
}
