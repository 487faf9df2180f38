import { atMost } from './at-most.ts'
import type { Transaction } from './database.ts'
import { sqlState } from './sql-state.ts'
import type { Connection } from './wire/connection.ts'
import { ConnectionLost } from './wire/connection-lost.ts'
import { writeRows, type CopyTarget } from './wire/copy.ts'
import { queriesOver } from './wire/queries.ts'
import { Statement, type Request, type Send } from './wire/statement.ts'

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

/** One connection for one transaction at a time. What comes after its end is refused. */
export function createTransactionLines(
  open: (onEnd: () => void) => Connection,
  maximum: number,
): TransactionLines {
  const lines = new Set<Connection>()
  const idle: Connection[] = []
  const waiting: ((line: Connection) => void)[] = []
  let onIdle: (() => void) | undefined
  let isEnding = false

  function openLine(): Connection {
    const line: Connection = open(() => drop(line))
    lines.add(line)
    return line
  }

  function drop(line: Connection): void {
    if (!lines.delete(line)) return
    const index = idle.indexOf(line)
    if (index >= 0) idle.splice(index, 1)
    void line.close()
    if (lines.size < maximum) waiting.shift()?.(openLine())
  }

  function take(): Connection | Promise<Connection> {
    const free = idle.pop()
    if (free) return free
    return lines.size < maximum ? openLine() : new Promise((resolve) => waiting.push(resolve))
  }

  function giveBack(line: Connection): void {
    if (lines.has(line)) {
      const next = waiting.shift()
      if (next) next(line)
      else idle.push(line)
    }
    if (idle.length === lines.size) onIdle?.()
  }

  async function transact<T>(line: Connection, work: (tx: Transaction) => Promise<T>): Promise<T> {
    let isOver = false
    let first: unknown
    const send = (request: Request) => {
      if (isOver) throw new ConnectionLost('the transaction is over')
      line.send(request)
    }
    const note = (error: unknown) => (first ??= error)
    const own = queriesOver(line.send, note)
    const tx = Object.assign(queriesOver(send, note), { copy: copyOver(send, note) })
    const statements: Promise<unknown>[] = []
    leftToCommit.set(tx, statements)
    // Nobody waits for it: whatever the work sends comes after it on this connection, and on no other.
    leaveToCommit(tx, own`begin`.execute())
    try {
      const result = await work(tx)
      isOver = true
      const [{ command }] = await Promise.all([own`commit`.execute(), ...statements])
      // The server answers so where a statement had failed and nobody cared.
      if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command} instead of a commit`)
      return result
    } catch (error) {
      isOver = true
      // After a commit there is nothing to undo, and the server only says so. A line that cannot roll back is no good.
      if (!line.isLost) await own`rollback`.catch(() => drop(line))
      throw causeOf(error, first)
    }
  }

  return {
    async begin(work) {
      if (isEnding) throw new ConnectionLost('the pool has ended', { code: 'CONNECTION_ENDED' })
      const line = await take()
      try {
        return await transact(line, work)
      } finally {
        giveBack(line)
      }
    },
    async end({ timeout }) {
      isEnding = true
      if (idle.length < lines.size) await atMost(timeout, (done) => (onIdle = done))
      await Promise.all([...lines].map((line) => line.close()))
    },
  }
}

function copyOver(send: Send, onFailure: (error: unknown) => void) {
  return async <R>(target: CopyTarget<R>, rows: readonly R[]): Promise<void> => {
    if (rows.length === 0) return
    const copied: Request['copied'] = (out) => writeRows(out, target, rows)
    await new Statement({ text: target.text, values: [], copied }, send, onFailure).execute()
  }
}

/** in_failed_sql_transaction: what every statement after the one that failed gets to hear. */
const FAILED_BEFORE = '25P02'

/** Of statements that were sent together, the one that failed is not always the one that is looked at first. */
function causeOf(error: unknown, first: unknown): unknown {
  return sqlState(error) === FAILED_BEFORE ? (first ?? error) : error
}
