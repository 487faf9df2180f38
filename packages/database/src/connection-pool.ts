import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import { RECONNECT_PAUSE_MS, SLOW_CONNECT_MS } from './connection-limits.ts'
import type { ConnectionOptions } from './database-address.ts'
import { ConnectionLost, endsSession, isReadOnly } from './database-errors.ts'

/** Callers that may wait for a connection; the next one is refused. */
const MAXIMUM_WAITING = 4_096
/** Longer than opening a connection may take (CONNECT_LIMIT_MS). */
const WAIT_LIMIT_MS = 15_000

export interface PoolLimits {
  readonly maximumWaiting?: number
  readonly waitLimitMs?: number
}

/** Connections, and callers that wait for one. */
export interface PoolCounts {
  readonly inUse: number
  readonly idle: number
  readonly waiting: number
}

export type ConnectionPool = ReturnType<typeof createConnectionPool>

/** Connections are opened on demand and kept. A lost one is replaced when a caller needs it. */
export function createConnectionPool(
  options: ConnectionOptions,
  maximum: number,
  { maximumWaiting = MAXIMUM_WAITING, waitLimitMs = WAIT_LIMIT_MS }: PoolLimits,
) {
  const idle: Connection[] = []
  const inUse = new Set<Connection>()
  const waiting = new Set<PromiseWithResolvers<void>>()
  const allReleased = Promise.withResolvers<void>()
  let active = 0
  let state: 'open' | 'ending' | 'ended' = 'open'
  let recentFailure: { readonly error: unknown } | undefined

  /** Waits until fewer than `maximum` callers are active. */
  async function acquire(): Promise<void> {
    if (state !== 'open') throw new ConnectionLost('the pool has ended', 'CONNECTION_ENDED')
    if (active < maximum) return void (active += 1)
    if (waiting.size >= maximumWaiting)
      throw new ConnectionLost('too many callers wait for a connection to the database', 'POOL_QUEUE_FULL')
    const turn = Promise.withResolvers<void>()
    waiting.add(turn)
    const limit = setTimeout(() => {
      waiting.delete(turn)
      turn.reject(new ConnectionLost('no connection to the database became free in time', 'POOL_TIMEOUT'))
    }, waitLimitMs)
    await turn.promise.finally(() => clearTimeout(limit))
  }

  function release(): void {
    const [next] = waiting
    if (next) {
      waiting.delete(next)
      return next.resolve()
    }
    active -= 1
    if (active === 0 && state !== 'open') allReleased.resolve()
  }

  /** Of the callers that wait while a server hangs, only the first ones wait until their attempt to connect fails. */
  async function open(): Promise<Connection> {
    if (recentFailure) throw recentFailure.error
    let isSlow = false
    const slow = setTimeout(() => (isSlow = true), SLOW_CONNECT_MS)
    try {
      return await openConnection(options)
    } catch (error) {
      if (isSlow) {
        recentFailure = { error }
        setTimeout(() => (recentFailure = undefined), RECONNECT_PAUSE_MS).unref()
      }
      throw error
    } finally {
      clearTimeout(slow)
    }
  }

  async function run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    let connection = idle.pop()
    while (connection?.isLost) connection = idle.pop()
    connection ??= await open()
    inUse.add(connection)
    try {
      if (state === 'ended') throw new ConnectionLost('the pool has ended', 'CONNECTION_ENDED')
      return await work(connection)
    } catch (error) {
      if (isReadOnly(error) || endsSession(error)) void connection.end()
      if (isReadOnly(error)) endIdle()
      throw error
    } finally {
      inUse.delete(connection)
      if (connection.isLost || state === 'ended') void connection.end()
      else idle.push(connection)
    }
  }

  function endIdle(): void {
    for (const connection of idle.splice(0)) void connection.end()
  }

  return {
    /** Ends all connections, because they lead to a server that is of no use. Statements in progress fail. */
    discard(): void {
      endIdle()
      for (const connection of inUse) void connection.end()
    },
    async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      await acquire()
      return run(work).finally(release)
    },
    counts: (): PoolCounts => ({ inUse: inUse.size, idle: idle.length, waiting: waiting.size }),
    /** Work in progress has this time to finish; new work is refused. */
    async end(limitSeconds: number): Promise<void> {
      state = 'ending'
      if (active > 0)
        await Promise.race([allReleased.promise, sleep(limitSeconds * 1_000, undefined, { ref: false })])
      state = 'ended'
      await Promise.all([...idle, ...inUse].map((connection) => connection.end()))
    },
  }
}
