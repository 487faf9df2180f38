import type { Connection } from './connection.ts'
import { ConnectionLost } from './connection-lost.ts'
import { createConnectionPool, type PoolSettings } from './connection-pool.ts'
import { copyStatement, type CopyTarget } from './copy.ts'
import { queriesOver, type Queries, type Send } from './queries.ts'
import { sqlState } from './sql-state.ts'

/** Statements of one transaction. */
export interface Transaction extends Queries {
  /** Inserts many rows at once by COPY. */
  copy<R>(target: CopyTarget<R>, rows: readonly R[]): Promise<void>
}

const deferredIn = new WeakMap<Transaction, Promise<unknown>[]>()

/**
 * Leaves statements that were sent, and whose answers nobody needs, to the commit, which is sent right behind them.
 * Where one of them fails, the transaction is rolled back and fails with its error.
 */
export function deferToCommit(tx: Transaction, ...statements: readonly Promise<unknown>[]): void {
  const deferred = deferredIn.get(tx)
  if (!deferred) throw new Error('only a transaction has a commit to defer statements to')
  for (const statement of statements) {
    // Awaited with the commit; this avoids an unhandled rejection.
    statement.catch(() => undefined)
    deferred.push(statement)
  }
}

export interface TransactionPool {
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  end(limitSeconds: number): Promise<void>
}

/** One connection for each transaction. Statements after the end of the transaction are refused. */
export function createTransactionPool(settings: PoolSettings): TransactionPool {
  const pool = createConnectionPool(settings)
  return { begin: (work) => pool.use((connection) => transact(connection, work)), end: pool.end }
}

async function transact<T>(connection: Connection, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const { query } = connection
  let isOver = false
  let failure: { readonly error: unknown } | undefined
  const note = (error: unknown) => void (failure ??= { error })
  const send: Send = (write) => {
    const answer = isOver
      ? Promise.reject(new ConnectionLost('the transaction is over'))
      : connection.send(write)
    // A failure that nobody awaits still fails the transaction.
    answer.catch(note)
    return answer
  }
  const tx = Object.assign(queriesOver(send), {
    async copy<R>(target: CopyTarget<R>, rows: readonly R[]) {
      if (rows.length > 0) await send(() => copyStatement(target, rows))
    },
  })
  const deferred: Promise<unknown>[] = []
  deferredIn.set(tx, deferred)
  query`begin`.catch(note)
  try {
    const result = await work(tx)
    isOver = true
    if (failure) throw failure.error
    const [{ command }] = await Promise.all([query`commit`, ...deferred])
    // PostgreSQL answers a commit with a rollback where a statement has failed.
    if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command} instead of a commit`)
    return result
  } catch (error) {
    isOver = true
    // A connection that cannot roll back is not used again.
    if (!connection.isLost) await query`rollback`.catch(() => connection.end())
    throw sqlState(error) === FAILED_BEFORE && failure ? failure.error : error
  }
}

/** in_failed_sql_transaction: the answer to every statement behind the one that failed. */
const FAILED_BEFORE = '25P02'
