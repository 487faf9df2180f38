import type { Connection } from './connection.ts'
import type { ConnectionOptions } from './database-address.ts'
import { keepConnected } from './kept-connection.ts'

const RETRY_MS = 100
const PING_MS = 1_000
/** A server that takes longer to answer counts as lost. */
const PING_LIMIT_MS = 5_000

/**
 * PostgreSQL ends the session, and with it the lock, of a holder that has hung for a minute or whose machine is gone.
 * The keepalive settings have no effect on unix sockets.
 */
const LOCK_SESSION = {
  idle_session_timeout: '60000',
  tcp_keepalives_idle: '1',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '2',
}

/** An advisory lock that lasts as long as its connection: whoever finds it free knows that the holder is gone. */
export interface SessionLock {
  isHeld(): boolean
  end(): void
}

export interface SessionLockSettings {
  readonly options: ConnectionOptions
  readonly number: string
  /** Called each time the lock was taken or lost. */
  readonly onChange: (isHeld: boolean) => void
}

/** Takes the lock on a connection of its own, and takes it again whenever that connection was lost. */
export function holdLock({ options, number, onChange }: SessionLockSettings): SessionLock {
  let holder: Connection | undefined
  let isOver = false

  const kept = keepConnected({
    options: { ...options, settings: { ...options.settings, ...LOCK_SESSION } },
    pauseMs: RETRY_MS,
    async onOpen(connection) {
      // A connection that was lost holds the lock until the server notices.
      await connection.query`select pg_advisory_lock(${number}::text::bigint)`
      if (isOver) return
      holder = connection
      onChange(true)
    },
    onLost() {
      if (!holder) return
      holder = undefined
      if (!isOver) onChange(false)
    },
  })
  kept.opened.catch(() => undefined)

  const pinging = setInterval(() => holder && void ping(holder), PING_MS)

  return {
    isHeld: () => holder !== undefined && !isOver,
    end() {
      isOver = true
      clearInterval(pinging)
      kept.end()
    },
  }
}

async function ping(connection: Connection): Promise<void> {
  const limit = setTimeout(() => connection.end(), PING_LIMIT_MS)
  await connection.query`select 1 as one`.catch(() => undefined)
  clearTimeout(limit)
}
