import type { Database, Transaction } from './database.ts'
import { sqlState } from './sql-state.ts'

/** The connection of a transaction ended before its commit was confirmed. */
class ConnectionLost extends Error {
  readonly code = 'CONNECTION_CLOSED'
}

/** By transaction, what was sent in it and nobody has waited for. */
const leftToCommit = new WeakMap<Transaction, Promise<unknown>[]>()

/**
 * Statements that have been sent, and that nobody needs an answer of: the commit is sent right behind them. The server
 * takes statements in their order, and where one of them fails there is no commit, and its error is the transaction's.
 */
export function leaveToCommit(tx: Transaction, ...statements: readonly Promise<unknown>[]): void {
  const left = leftToCommit.get(tx)
  // Where there is no commit to come, a failure would be heard by nobody.
  if (!left) throw new Error('only a transaction of ours has a commit to leave statements to')
  for (const statement of statements) {
    // It is looked at with the commit; until then its failure is not unheard.
    statement.catch(() => undefined)
    left.push(statement)
  }
}

/** Transactions over connections of their own. */
export interface TransactionLines {
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  end(options: { timeout: number }): Promise<void>
}

/** One connection, for one transaction at a time. When it ends, it is not opened again. */
interface Line {
  readonly sql: Database
  isLost: boolean
  /** Tells the transaction that has the connection of its end. */
  onLost: ((error: ConnectionLost) => void) | undefined
}

/**
 * The driver's own `begin` sends a rollback to a connection that has just ended: that throws where nobody can
 * catch it, and the connection may by then belong to another transaction (porsager/postgres 1133, 1208, 1216). So
 * each transaction has a driver to itself, with a single connection that never reconnects, and what comes after its
 * end is refused here.
 */
export function createTransactionLines(
  open: (onEnd: () => void) => Database,
  maximum: number,
): TransactionLines {
  const lines = new Set<Line>()
  const idle: Line[] = []
  const waiting: ((line: Line) => void)[] = []

  function openLine(): Line {
    const end = () => {
      line.isLost = true
      line.onLost?.(new ConnectionLost('the connection of the transaction ended'))
      drop(line)
    }
    const line: Line = { sql: open(end), isLost: false, onLost: undefined }
    lines.add(line)
    return line
  }

  function drop(line: Line): void {
    if (!lines.delete(line)) return
    const index = idle.indexOf(line)
    if (index >= 0) idle.splice(index, 1)
    void line.sql.end({ timeout: 0 })
    if (lines.size < maximum) waiting.shift()?.(openLine())
  }

  function take(): Line | Promise<Line> {
    const free = idle.pop()
    if (free) return free
    return lines.size < maximum ? openLine() : new Promise((resolve) => waiting.push(resolve))
  }

  function giveBack(line: Line): void {
    if (!lines.has(line)) return
    const next = waiting.shift()
    if (next) next(line)
    else idle.push(line)
  }

  async function transact<T>(line: Line, work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (line.isLost) throw new ConnectionLost('the connection ended before the transaction began')
    let isOver = false
    let first: unknown
    const tx = guarded(line.sql, {
      check: () => {
        if (line.isLost || isOver) throw new ConnectionLost('the transaction is over')
      },
      onFailure: (error) => (first ??= error),
    })
    const statements: Promise<unknown>[] = []
    leftToCommit.set(tx, statements)
    // Nobody waits for it: whatever the work sends comes after it on this connection, and on no other.
    leaveToCommit(tx, line.sql.unsafe('begin').execute())
    let result: T
    try {
      result = await work(tx)
    } catch (error) {
      isOver = true
      // A line that cannot even roll back is no good to anybody.
      if (!line.isLost) await line.sql.unsafe('rollback').catch(() => drop(line))
      throw causeOf(error, first)
    }
    isOver = true
    const commit = line.sql.unsafe('commit').execute()
    const [{ command }] = await Promise.all([commit, ...statements]).catch((error: unknown) => {
      throw causeOf(error, first)
    })
    // The server answers so where a statement had failed and nobody cared.
    if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command} instead of a commit`)
    return result
  }

  /** Not a race with a promise of the connection: that would keep every result for as long as the connection lives. */
  function transactOrLose<T>(line: Line, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      line.onLost = reject
      transact(line, work).then(resolve, reject)
    })
  }

  return {
    async begin(work) {
      const line = await take()
      try {
        return await transactOrLose(line, work)
      } finally {
        line.onLost = undefined
        giveBack(line)
      }
    },
    async end({ timeout }) {
      await Promise.all([...lines].map(({ sql }) => sql.end({ timeout })))
    },
  }
}

/** in_failed_sql_transaction: what every statement after the one that failed gets to hear. */
const FAILED_BEFORE = '25P02'

/** Of statements that were sent together, the one that failed is not always the one that is looked at first. */
function causeOf(error: unknown, first: unknown): unknown {
  return sqlState(error) === FAILED_BEFORE ? (first ?? error) : error
}

interface Guard {
  readonly check: () => void
  readonly onFailure: (error: unknown) => void
}

/**
 * A query of the driver lives until the next large collection of garbage, however soon it is done: it has members to
 * which functions were assigned that know it, and V8 makes such functions in old space. What it sent need not live on
 * with it; of a batch of packages that is half a megabyte.
 */
export function forgetSent(query: object): void {
  Object.assign(query, { args: undefined, parameters: undefined })
}

/** The same, but every new statement is checked first, and its failure noted. */
function guarded(sql: Database, { check, onFailure }: Guard): Transaction {
  const guard = new Proxy(sql, {
    apply(target, self, args: unknown[]) {
      check()
      const made = Reflect.apply(target as unknown as (...given: unknown[]) => unknown, self, args)
      // Its own `then` would send it; this only looks on.
      if (made instanceof Promise) void Promise.prototype.then.call(made, () => forgetSent(made), onFailure)
      return made
    },
    get(target, name) {
      check()
      return Reflect.get(target, name) as unknown
    },
  })
  return guard as unknown as Transaction
}
