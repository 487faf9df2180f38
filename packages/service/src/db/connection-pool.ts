import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Connection } from './connection.ts'
import { ConnectionLost, lossOr } from './connection-lost.ts'
import type { ConnectionOptions } from './database-address.ts'

/** Callers that may wait for a connection; the next one is refused. */
const MAXIMUM_WAITING = 4_096
/** Longer than opening a connection may take (CONNECT_LIMIT_MS). */
const WAIT_LIMIT_MS = 15_000

export interface PoolSettings {
  readonly options: ConnectionOptions
  readonly maximum: number
  readonly maximumWaiting?: number
  readonly waitLimitMs?: number
}

/** pg's pool, with a limit on those that wait. A lost connection is replaced when somebody needs it. */
export interface ConnectionPool {
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Work under way has this time to finish; new work is refused. */
  end(limitSeconds: number): Promise<void>
}

export function createConnectionPool({
  options,
  maximum,
  maximumWaiting = MAXIMUM_WAITING,
  waitLimitMs = WAIT_LIMIT_MS,
}: PoolSettings): ConnectionPool {
  const open = new Set<Connection>()
  const isIdle = Promise.withResolvers<void>()
  let underWay = 0
  let isEnding = false

  class PooledConnection extends Connection {
    constructor() {
      super(options)
      open.add(this)
      this.once('end', () => open.delete(this))
    }
  }
  const pool = new pg.Pool({
    Client: PooledConnection as never,
    max: maximum,
    connectionTimeoutMillis: waitLimitMs,
    idleTimeoutMillis: 0,
  })
  // An idle connection was lost, and the pool has removed it. Without a listener, the event would end the process.
  pool.on('error', () => undefined)

  async function take(): Promise<Connection & { release: () => void }> {
    if (isEnding) throw new ConnectionLost('the pool has ended', 'CONNECTION_ENDED')
    // The pool queues callers for a moment also where a connection is idle.
    if (pool.waitingCount - pool.idleCount >= maximumWaiting)
      throw new ConnectionLost('too many callers wait for a connection to the database', 'POOL_QUEUE_FULL')
    try {
      return (await pool.connect()) as never
    } catch (error) {
      // The pool's own error has no code.
      throw isWaitOver(error) ? new ConnectionLost(error.message, 'POOL_TIMEOUT') : lossOr(error)
    }
  }

  return {
    async use(work) {
      underWay += 1
      let connection: Awaited<ReturnType<typeof take>> | undefined
      try {
        connection = await take()
        return await work(connection)
      } finally {
        connection?.release()
        underWay -= 1
        if (isEnding && underWay === 0) isIdle.resolve()
      }
    },
    async end(limitSeconds) {
      isEnding = true
      if (underWay > 0)
        await Promise.race([isIdle.promise, sleep(limitSeconds * 1_000, undefined, { ref: false })])
      const ended = pool.end()
      if (underWay > 0) for (const connection of open) connection.end()
      await ended
    },
  }
}

function isWaitOver(error: unknown): error is Error {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}
