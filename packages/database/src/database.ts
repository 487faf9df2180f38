import type { Connection } from './connection.ts'
import {
  createConnectionPool,
  type ConnectionPool,
  type PoolCounts,
  type PoolLimits,
} from './connection-pool.ts'
import {
  ANSWER_LIMIT_MS,
  IDLE_IN_TRANSACTION_LIMIT_MS,
  LOCK_LIMIT_MS,
  STATEMENT_LIMIT_MS,
} from './connection-limits.ts'
import { connectionOptionsOf, type ConnectionOptions, type ConnectionTarget } from './database-address.ts'
import { isConnectionLoss, PLAN_OUTDATED, sqlState } from './database-errors.ts'
import { keepConnected, type KeptConnectionSettings } from './kept-connection.ts'
import {
  identifier,
  INDEX_SETTINGS,
  queriesOver,
  type Queries,
  type Send,
  type Statement,
} from './queries.ts'
import { watchServer, type WatchLimits } from './server-watch.ts'
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
  /**
   * The same database with connections of its own, so that other callers cannot use them up. They end with this one.
   * `name` is the prefix of its pools.
   */
  reserve(name: string, maximumConnections: number): Database
  /** The pools by name: `transactions`, `statements`, `indexed_statements`, and those that are reserved. */
  pools(): Readonly<Record<string, PoolCounts>>
  /** Work in progress has `timeout` seconds to finish. */
  end(options?: { readonly timeout?: number }): Promise<void>
}

/**
 * What the service uses a database for. Each purpose requires a primary. Migrations may wait for their answers; every other
 * wait for the server has a limit. For requests the server is watched too.
 */
export type Purpose = 'requests' | 'sessions' | 'migrations'

/** The limits apply to each pool. */
export interface ConnectionSettings extends PoolLimits, WatchLimits {
  readonly target: ConnectionTarget
  /** Leads to the server without a pooler. If given, `target` may be a pooler in transaction mode. */
  readonly directTarget?: string | undefined
  /** Undefined: for tools, which also work on a standby and may wait long. */
  readonly purpose?: Purpose
  /** Called when all connections are dropped, because the server does not answer or is no longer the primary. */
  readonly onServerGone?: () => void
  /** Called for each ping that the server has answered as the primary. Only of purpose `requests`, and not embedded. */
  readonly onServerAnswer?: () => void
  readonly maximumConnections: number
  readonly applicationName: string
  /** Instead of the limit of the purpose: statements without an answer end their connection after this time. */
  readonly answerLimitMs?: number
  /** Settings of each session instead of ours. */
  readonly sessionSettings?: Readonly<Record<string, string>>
}

const TIME_ZONE = { TimeZone: 'UTC' }
const STATEMENT_LIMIT = { statement_timeout: String(STATEMENT_LIMIT_MS) }
const SERVICE_LIMITS = {
  ...STATEMENT_LIMIT,
  lock_timeout: String(LOCK_LIMIT_MS),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_LIMIT_MS),
}
const END_LIMIT_SECONDS = 30
const LISTEN_RETRY_MS = 500

/**
 * Half of the connections serve transactions. The other half serves single statements: one quarter those that are sent
 * by index, so that their sessions keep the planner settings. No kind can starve another.
 */
export function openDatabase(given: ConnectionSettings): Database {
  const { options, direct } = connectionsOf(given)
  const allPools = new Map<string, ConnectionPool>()
  const kept: { end(): void }[] = []
  const keepConnection = (how: KeptConnectionSettings<Connection>) => {
    const connection = keepConnected(direct, how)
    kept.push(connection)
    return connection.opened
  }
  const dropAll = () => {
    given.onServerGone?.()
    // If it wakes up again, it may believe to be the primary: others are asked first.
    Object.assign(options.known, { found: undefined, hung: options.known.found })
    for (const pool of allPools.values()) pool.discard()
  }
  // The embedded server has a supervisor of its own.
  if (given.purpose === 'requests' && typeof given.target === 'string')
    kept.push(watchServer(options, { onAnswer: () => given.onServerAnswer?.(), onGone: dropAll }, given))

  const shared: Omit<Database, keyof Queries | 'begin'> = {
    database: options.client.database ?? '',
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
    reserve: (name, maximumConnections) => openPools(`${name}_`, maximumConnections),
    pools: () => Object.fromEntries([...allPools].map(([name, pool]) => [name, pool.counts()])),
    async end({ timeout = END_LIMIT_SECONDS } = {}) {
      for (const each of kept) each.end()
      await Promise.all([...allPools.values()].map((pool) => pool.end(timeout)))
    },
  }

  function openPools(prefix: string, maximumConnections: number): Database {
    const poolOf = (name: string, share: number, how = options) => {
      const pool = createConnectionPool(how, Math.ceil(maximumConnections * share), given)
      allPools.set(prefix + name, pool)
      return pool
    }
    const transactions = poolOf('transactions', 1 / 2)
    const statements = poolOf('statements', 1 / 4)
    const statementsByIndex = poolOf('indexed_statements', 1 / 4, withSettings(options, INDEX_SETTINGS))
    const begin: Database['begin'] = (work) => transactions.use((connection) => transact(connection, work))
    return Object.assign(queriesOver(sendTo(statements), sendTo(statementsByIndex)), { ...shared, begin })
  }

  return openPools('', given.maximumConnections)
}

/** How to connect to `target`, and how to connect where a session is needed. */
function connectionsOf(given: ConnectionSettings) {
  const { target, directTarget, purpose, applicationName, sessionSettings } = given
  const ownLimitMs = purpose && purpose !== 'migrations' ? ANSWER_LIMIT_MS : undefined
  const limits = purpose ? SERVICE_LIMITS : STATEMENT_LIMIT
  const settings = { ...TIME_ZONE, ...limits, ...sessionSettings }
  const to = (each: ConnectionTarget): ConnectionOptions => ({
    ...connectionOptionsOf(each, applicationName, settings, purpose ? 'primary' : 'any'),
    answerLimitMs: given.answerLimitMs ?? ownLimitMs,
  })
  const options = to(target)
  if (directTarget === undefined) return { options, direct: options }
  // A pooler carries the time zone of a session to another server connection, but no other setting.
  const pooled = { settings: TIME_ZONE, transactionSettings: limits, hasNamedStatements: false }
  return { options: { ...options, ...pooled }, direct: to(directTarget) }
}

/** Without named statements, settings of the planner are applied to transactions too: a pooler may be in between. */
function withSettings(options: ConnectionOptions, more: Readonly<Record<string, string>>): ConnectionOptions {
  const { hasNamedStatements, settings, transactionSettings } = options
  return hasNamedStatements
    ? { ...options, settings: { ...settings, ...more } }
    : { ...options, transactionSettings: { ...transactionSettings, ...more } }
}

/** A statement that only reads may be repeated, also where its first execution is in doubt. */
const READS = /^\s*select\b/iu

/** A single statement that only reads is repeated once on another connection where its own was lost. */
function sendTo(pool: ConnectionPool): Send {
  return async (write) => {
    const statement = write()
    let wasLost = false
    const sendOnce = () =>
      pool.use((connection) =>
        sendAlone(connection, statement).catch((error: unknown) => {
          wasLost = isConnectionLoss(error)
          throw error
        }),
      )
    try {
      return await sendOnce()
    } catch (error) {
      if (!wasLost || !READS.test(statement.text)) throw error
      return sendOnce()
    }
  }
}

/** The settings of the transaction leave in the same pipeline, which is one transaction. */
async function sendAlone(connection: Connection, statement: Statement) {
  const { transactionSettings } = connection
  const send = () => {
    // If it fails, so does the statement behind it.
    if (transactionSettings) connection.send(() => transactionSettings).catch(() => undefined)
    return connection.send(() => statement)
  }
  // A statement whose plan is outdated is sent again; the connection has forgotten the plan.
  return send().catch((error: unknown) => {
    if (sqlState(error) !== PLAN_OUTDATED) throw error
    return send()
  })
}
