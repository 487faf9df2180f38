import { listenTo, type Listener } from './listener.ts'
import { numberOf } from './locks.ts'
import { holdLock, LOCK_SESSION, type SessionLock } from './session-lock.ts'
import { connectionOptionsOf, type ConnectionTarget } from './connection-target.ts'
import { createStatementPool } from './statement-pool.ts'
import { createTransactionLines } from './transaction-lines.ts'
import { Connection } from './wire/connection.ts'
import type { CopyTarget } from './wire/copy.ts'
import { queriesOver, type Queries } from './wire/queries.ts'

export { addressOf, type ConnectionTarget, type SocketTarget } from './connection-target.ts'
export type { Queries }

/** Statements by themselves, transactions, and a channel to listen to. */
export interface Database extends Queries {
  /** Its name on the server. */
  readonly database: string
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Resolves when it listens; `onListening` is called then, and each time it listens again. */
  listen(channel: string, onMessage: (payload: string) => void, onListening: () => void): Promise<void>
  /** Holds a worker's name to the end, on a connection of its own. `onChange`: whether it is held now. */
  holdWorkerName(name: string, onChange: (isHeld: boolean) => void): Pick<SessionLock, 'isHeld'>
  /** What is under way has so many seconds to finish. */
  end(options?: { readonly timeout?: number }): Promise<void>
}

/** Statements of one transaction. */
export interface Transaction extends Queries {
  /** Writes many rows at once, the cheapest way there is. */
  copy<R>(target: CopyTarget<R>, rows: readonly R[]): Promise<void>
}

export interface ConnectionSettings {
  readonly target: ConnectionTarget
  readonly maximumConnections: number
  readonly applicationName: string
}

/**
 * Every statement has an index to go by, and goes by it, row by row. The server would rather read a table from end to
 * end while it is small, and keeps that plan long after it has grown: on a new database until the first analysis,
 * minutes later. It would also gather all that a page could hold and sort it, instead of reading until it is full.
 *
 * So one plan does for all values, and is kept. While lists are short the server would rather make one for each
 * execution: for a single package that took it as long as carrying them out.
 */
const PLANS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
}

const STATEMENT_TIMEOUT_MS = 30_000
const END_LIMIT_SECONDS = 30

/**
 * Opens two pools that look like one: statements of their own share half of the connections, transactions get the
 * other half. Times come out as ISO 8601 UTC text, 64-bit integers as numbers.
 */
export function openDatabase({ target, maximumConnections, applicationName }: ConnectionSettings): Database {
  const half = Math.ceil(maximumConnections / 2)
  const options = connectionOptionsOf(target, {
    applicationName,
    settings: { ...PLANS, TimeZone: 'UTC', statement_timeout: String(STATEMENT_TIMEOUT_MS) },
  })
  const open = (onEnd: () => void) => new Connection(options, onEnd)
  const statements = createStatementPool(open, half)
  const transactions = createTransactionLines(open, half)
  const listeners: Listener[] = []
  const locks: SessionLock[] = []
  return Object.assign(queriesOver(statements.send), {
    database: options.client.database ?? '',
    begin: transactions.begin,
    listen(channel: string, onMessage: (payload: string) => void, onListening: () => void) {
      const listener = listenTo({ open, channel, onMessage, onListening })
      listeners.push(listener)
      return listener.listening
    },
    holdWorkerName(name: string, onChange: (isHeld: boolean) => void) {
      const settings = { ...options.settings, ...LOCK_SESSION }
      const openLocked = (onEnd: () => void) => new Connection({ ...options, settings }, onEnd)
      const lock = holdLock({ open: openLocked, number: numberOf('worker', name), onChange })
      locks.push(lock)
      return lock
    },
    async end({ timeout = END_LIMIT_SECONDS } = {}) {
      await Promise.all([
        ...[...listeners, ...locks].map((each) => each.end()),
        transactions.end({ timeout }),
        statements.end({ timeout }),
      ])
    },
  })
}
