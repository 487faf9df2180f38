import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Connection } from './connection.ts'
import type { ConnectionOptions } from './database-address.ts'
import { ConnectionLost, lossOr } from './database-errors.ts'

/** Callers that may wait for a connection; the next one is refused. */
const MAXIMUM_WAITING = 4_096
/** Longer than opening a connection may take (CONNECT_LIMIT_MS). */
const WAIT_LIMIT_MS = 15_000

export interface PoolLimits {
  readonly maximumWaiting?: number
  readonly waitLimitMs?: number
}

/** pg.Pool with a limit on the callers that wait. A lost connection is replaced when a caller needs one. */
export interface ConnectionPool {
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Work in progress has this time to finish; new work is refused. */
  end(limitSeconds: number): Promise<void>
}

export function createConnectionPool(
  options: ConnectionOptions,
  maximum: number,
  { maximumWaiting = MAXIMUM_WAITING, waitLimitMs = WAIT_LIMIT_MS }: PoolLimits,
): ConnectionPool {
  const inUse = new Set<Connection>()
  const isIdle = Promise.withResolvers<void>()
  let pending = 0
  let isEnding = false

  // pg.Pool passes its own settings to the constructor of a client.
  const pool = new pg.Pool({
    ...(options as object),
    Client: Connection as never,
    max: maximum,
    connectionTimeoutMillis: waitLimitMs,
    idleTimeoutMillis: 0,
  })
  // The pool has removed an idle connection that was lost. Without a listener, the event would end the process.
  pool.on('error', () => undefined)

  async function take(): Promise<Connection & { release: () => void }> {
    if (isEnding) throw new ConnectionLost('the pool has ended', 'CONNECTION_ENDED')
    // pg.Pool queues callers for a moment even if a connection is idle.
    if (pool.waitingCount - pool.idleCount >= maximumWaiting)
      throw new ConnectionLost('too many callers wait for a connection to the database', 'POOL_QUEUE_FULL')
    try {
      return (await pool.connect()) as never
    } catch (error) {
      // This error of pg.Pool has no code.
      if (error instanceof Error && error.message === 'timeout exceeded when trying to connect')
        throw new ConnectionLost(error.message, 'POOL_TIMEOUT')
      throw lossOr(error)
    }
  }

  async function run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await take()
    inUse.add(connection)
    try {
      return await work(connection)
    } finally {
      inUse.delete(connection)
      connection.release()
    }
  }

  return {
    use(work) {
      pending += 1
      return run(work).finally(() => {
        pending -= 1
        if (isEnding && pending === 0) isIdle.resolve()
      })
    },
    async end(limitSeconds) {
      isEnding = true
      if (pending > 0)
        await Promise.race([isIdle.promise, sleep(limitSeconds * 1_000, undefined, { ref: false })])
      const ended = pool.end()
      for (const connection of inUse) connection.end()
      await ended
    },
  }
}
