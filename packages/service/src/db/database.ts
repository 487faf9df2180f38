import { createConnectionPool } from './connection-pool.ts'
import { connectionOptionsOf, type ConnectionTarget } from './database-address.ts'
import { listenTo } from './listener.ts'
import { queriesOver, type Queries, type Send } from './queries.ts'
import { holdLock, type SessionLock } from './session-lock.ts'
import { PLAN_OUTDATED, sqlState } from './sql-state.ts'
import { createTransactionPool, type Transaction } from './transaction-pool.ts'

export { addressOf, type ConnectionTarget, type SocketTarget } from './database-address.ts'
export { fragment, identifier, type Fragment, type Queries } from './queries.ts'
export type { Transaction } from './transaction-pool.ts'

/** Single statements, transactions, and a channel to listen to. */
export interface Database extends Queries {
  /** Its name on the server. */
  readonly database: string
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Resolves when it listens; `onListening` is called then, and each time it listens again. */
  listen(channel: string, onMessage: (payload: string) => void, onListening: () => void): Promise<void>
  /** Holds an advisory lock until the database is closed, on a connection of its own. */
  holdLock(number: string, onChange: (isHeld: boolean) => void): Pick<SessionLock, 'isHeld'>
  /** Work under way has `timeout` seconds to finish. */
  end(options?: { readonly timeout?: number }): Promise<void>
}

export interface ConnectionSettings {
  readonly target: ConnectionTarget
  readonly maximumConnections: number
  readonly applicationName: string
  /** Of each of the two pools; see connection-pool.ts. */
  readonly maximumWaiting?: number
  readonly waitLimitMs?: number
}

const STATEMENT_TIMEOUT_MS = 30_000
const END_LIMIT_SECONDS = 30

/** Half of the connections serve single statements, the other half transactions: neither can starve the other. */
export function openDatabase({
  target,
  maximumConnections,
  applicationName,
  ...limits
}: ConnectionSettings): Database {
  const options = connectionOptionsOf(target, {
    applicationName,
    settings: { TimeZone: 'UTC', statement_timeout: String(STATEMENT_TIMEOUT_MS) },
  })
  const settings = { ...limits, options, maximum: Math.ceil(maximumConnections / 2) }
  const statements = createConnectionPool(settings)
  const transactions = createTransactionPool(settings)
  const kept: { end(): void }[] = []

  const send: Send = async (write) => {
    const statement = write()
    return statements.use(async (connection) => {
      try {
        return await connection.send(() => statement)
      } catch (error) {
        if (sqlState(error) !== PLAN_OUTDATED) throw error
        return await connection.send(() => statement)
      }
    })
  }

  return Object.assign(queriesOver(send), {
    database: options.client.database ?? '',
    begin: transactions.begin,
    listen(channel: string, onMessage: (payload: string) => void, onListening: () => void) {
      const listener = listenTo({ options, channel, onMessage, onListening })
      kept.push(listener)
      return listener.opened
    },
    holdLock(number: string, onChange: (isHeld: boolean) => void) {
      const lock = holdLock({ options, number, onChange })
      kept.push(lock)
      return lock
    },
    async end({ timeout = END_LIMIT_SECONDS } = {}) {
      for (const each of kept) each.end()
      await Promise.all([transactions.end(timeout), statements.end(timeout)])
    },
  })
}
