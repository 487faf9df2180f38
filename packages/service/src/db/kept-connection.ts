import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import type { ConnectionOptions } from './database-address.ts'
import { identifier } from './queries.ts'

const LISTEN_RETRY_MS = 500
const LOCK_RETRY_MS = 100
const PING_MS = 1_000
/** A server that takes longer to answer counts as lost. */
const PING_LIMIT_MS = 5_000

/**
 * PostgreSQL ends the session, and with it the lock, of a holder that has hung for a minute or whose machine is gone.
 * The keepalive settings have no effect on unix sockets.
 */
const LOCK_SETTINGS = {
  idle_session_timeout: '60000',
  tcp_keepalives_idle: '1',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '2',
}

/** A connection outside the pools, which is opened again whenever it is lost. */
interface KeptConnection {
  /** Settles when the first connection has been opened or has failed. */
  readonly opened: Promise<void>
  end(): void
}

function keepConnected(
  options: ConnectionOptions,
  retryMs: number,
  onOpen: (connection: Connection) => Promise<void>,
): KeptConnection {
  const opened = Promise.withResolvers<void>()
  let current: Connection | undefined
  let isOver = false

  async function run(): Promise<void> {
    while (!isOver) {
      try {
        current = await openConnection(options)
        const closed = new Promise((resolve) => current?.once('end', resolve))
        if (isOver) break
        await onOpen(current)
        opened.resolve()
        await closed
      } catch (error) {
        opened.reject(error)
      }
      void current?.end()
      await sleep(retryMs, undefined, { ref: false })
    }
    void current?.end()
  }

  void run()
  return {
    opened: opened.promise,
    end() {
      isOver = true
      void current?.end()
    },
  }
}

export interface ListenerSettings {
  readonly options: ConnectionOptions
  readonly channel: string
  readonly onMessage: (payload: string) => void
  /** Called each time it starts to listen. */
  readonly onListening: () => void
}

/** Listens to a channel. Messages that are sent while the connection is lost are missed. */
export function listenTo({ options, channel, onMessage, onListening }: ListenerSettings): KeptConnection {
  return keepConnected(options, LISTEN_RETRY_MS, async (connection) => {
    connection.on('notification', ({ payload = '' }) => onMessage(payload))
    await connection.sql`listen ${identifier(channel)}`
    onListening()
  })
}

/** An advisory lock that lasts as long as its connection: if it is free, its holder is gone. */
export interface SessionLock {
  isHeld(): boolean
  end(): void
}

export interface SessionLockSettings {
  readonly options: ConnectionOptions
  readonly number: string
  /** Called each time the lock was acquired or lost. */
  readonly onChange: (isHeld: boolean) => void
}

/** Acquires the lock on a connection of its own, and acquires it again whenever that connection was lost. */
export function holdLock({ options, number, onChange }: SessionLockSettings): SessionLock {
  const settings = { ...options.settings, ...LOCK_SETTINGS }
  let holder: Connection | undefined
  let isOver = false

  const kept = keepConnected({ ...options, settings }, LOCK_RETRY_MS, async (connection) => {
    // A lost connection holds the lock until the server notices.
    await connection.sql`select pg_advisory_lock(${number}::text::bigint)`
    if (connection.isLost) return
    holder = connection
    connection.once('end', () => isOver || onChange(false))
    void keepAlive(connection)
    onChange(true)
  })
  kept.opened.catch(() => undefined)

  return {
    isHeld: () => holder?.isLost === false,
    end() {
      isOver = true
      kept.end()
    },
  }
}

async function keepAlive(connection: Connection): Promise<void> {
  while (!connection.isLost) {
    const limit = setTimeout(() => void connection.end(), PING_LIMIT_MS)
    await connection.sql`select 1 as one`.catch(() => undefined)
    clearTimeout(limit)
    await sleep(PING_MS, undefined, { ref: false })
  }
}
