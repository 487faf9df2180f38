import type { Connection } from './connection.ts'
import {
  createConnectionPool,
  type ConnectionPool,
  type PoolCounts,
  type PoolLimits,
} from './connection-pool.ts'
import { connectionOptionsOf, type ConnectionTarget } from './database-address.ts'
import { PLAN_OUTDATED, sqlState } from './database-errors.ts'
import { keepConnected, type KeptConnectionSettings } from './kept-connection.ts'
import { identifier, INDEX_SETTINGS, queriesOver, type Queries, type Send } from './queries.ts'
import { transact, type Transactions } from './transaction.ts'

export { addressOf, type ConnectionTarget, type SocketTarget } from './database-address.ts'
export type { Session } from './kept-connection.ts'
export { fragment, identifier, type Fragment, type Queries } from './queries.ts'
export type { Transaction } from './transaction.ts'

/** Single statements, transactions, and a channel to listen to. */
export interface Database extends Queries, Transactions {
  /** Its name on the server. */
  readonly database: string
  /**
   * Resolves when it listens; `onListening` is called then, and each time it listens again. Messages that are sent while
   * the connection is lost are missed.
   */
  listen(channel: string, onMessage: (payload: string) => void, onListening: () => void): Promise<void>
  /** Keeps a connection of its own open. Settles when the first one has been opened or has failed. */
  keepConnection(settings: KeptConnectionSettings): Promise<void>
  /** The pools by name: `transactions`, `statements`, `indexed_statements`. */
  pools(): Readonly<Record<string, PoolCounts>>
  /** Work in progress has `timeout` seconds to finish. */
  end(options?: { readonly timeout?: number }): Promise<void>
}

/** The limits apply to each pool. */
export interface ConnectionSettings extends PoolLimits {
  readonly target: ConnectionTarget
  readonly maximumConnections: number
  readonly applicationName: string
  /** Settings of each session instead of ours. */
  readonly sessionSettings?: Readonly<Record<string, string>>
}

const SESSION_SETTINGS = { TimeZone: 'UTC', statement_timeout: '30000' }
const END_LIMIT_SECONDS = 30
const LISTEN_RETRY_MS = 500

/**
 * Half of the connections serve transactions. The other half serves single statements: one quarter those that are sent
 * by index, so that their sessions keep the planner settings. No kind can starve another.
 */
export function openDatabase(given: ConnectionSettings): Database {
  const { target, maximumConnections, applicationName, sessionSettings, ...limits } = given
  const settings = { ...SESSION_SETTINGS, ...sessionSettings }
  const options = connectionOptionsOf(target, applicationName, settings)
  const poolOf = (share: number, more = {}) =>
    createConnectionPool(
      { ...options, settings: { ...settings, ...more } },
      Math.ceil(maximumConnections * share),
      limits,
    )
  const transactions = poolOf(1 / 2)
  const statements = poolOf(1 / 4)
  // Without named statements no plan is kept, and behind PgBouncer the settings would reach other sessions.
  const statementsByIndex = poolOf(1 / 4, options.hasNamedStatements ? INDEX_SETTINGS : {})
  const kept: { end(): void }[] = []
  const keepConnection = (how: KeptConnectionSettings<Connection>) => {
    const connection = keepConnected(options, how)
    kept.push(connection)
    return connection.opened
  }

  const others: Omit<Database, keyof Queries> = {
    database: options.client.database ?? '',
    begin: (work) => transactions.use((connection) => transact(connection, work)),
    keepConnection,
    listen: (channel, onMessage, onListening) =>
      keepConnection({
        retryMs: LISTEN_RETRY_MS,
        async onOpen(connection) {
          connection.on('notification', ({ payload = '' }) => onMessage(payload))
          await connection.sql`listen ${identifier(channel)}`
          onListening()
        },
      }),
    pools: () => ({
      transactions: transactions.counts(),
      statements: statements.counts(),
      indexed_statements: statementsByIndex.counts(),
    }),
    async end({ timeout = END_LIMIT_SECONDS } = {}) {
      for (const each of kept) each.end()
      await Promise.all([transactions, statements, statementsByIndex].map((pool) => pool.end(timeout)))
    },
  }
  return Object.assign(queriesOver(sendTo(statements), sendTo(statementsByIndex)), others)
}

/** A single statement whose plan is outdated is sent again; the connection has forgotten the plan. */
function sendTo(pool: ConnectionPool): Send {
  return async (write) => {
    const statement = write()
    return pool.use((connection) =>
      connection
        .send(() => statement)
        .catch((error: unknown) => {
          if (sqlState(error) !== PLAN_OUTDATED) throw error
          return connection.send(() => statement)
        }),
    )
  }
}
