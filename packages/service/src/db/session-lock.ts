import type { Connection } from './wire/connection.ts'
import { queriesOver } from './wire/queries.ts'

const RETRY_MS = 100
const PING_MS = 1_000
/** A server that takes longer to answer is taken for lost. */
const PING_LIMIT_MS = 5_000

/**
 * The server ends the session, and with it the lock, of a holder that has hung for a minute or whose machine is gone.
 * The keepalive settings have no effect on unix sockets.
 */
export const LOCK_SESSION = {
  idle_session_timeout: '60000',
  tcp_keepalives_idle: '1',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '2',
}

/** An advisory lock that lasts as long as its connection: whoever finds it free knows that the holder is gone. */
export interface SessionLock {
  isHeld(): boolean
  end(): Promise<void>
}

export interface SessionLockSettings {
  readonly open: (onEnd: () => void) => Connection
  readonly number: string
  /** Each time it was taken, and each time it was lost. */
  readonly onChange: (isHeld: boolean) => void
}

/** Takes the lock on a connection of its own, and takes it again whenever that connection was lost. */
export function holdLock({ open, number, onChange }: SessionLockSettings): SessionLock {
  let connection: Connection | undefined
  let isHeld = false
  let isOver = false
  let isPinging = false
  let retry: NodeJS.Timeout | undefined

  async function hold(): Promise<void> {
    const own = open(() => lost(own))
    connection = own
    const query = queriesOver(own.send)
    try {
      // A lost connection that the server still believes in holds the lock until the server notices.
      await query`select pg_advisory_lock(${number}::text::bigint)`
    } catch {
      await own.close()
      return
    }
    if (connection !== own || isOver) return
    isHeld = true
    onChange(true)
  }

  function lost(which: Connection): void {
    if (connection !== which) return
    connection = undefined
    if (!isOver) retry = setTimeout(() => void hold(), RETRY_MS)
    if (!isHeld) return
    isHeld = false
    onChange(false)
  }

  async function ping(): Promise<void> {
    const own = connection
    if (!own || !isHeld || isPinging) return
    isPinging = true
    const limit = setTimeout(() => void own.close(), PING_LIMIT_MS)
    await queriesOver(own.send)`select 1 as one`.catch(() => undefined)
    clearTimeout(limit)
    isPinging = false
  }

  const pinging = setInterval(() => void ping(), PING_MS)
  void hold()

  return {
    isHeld: () => isHeld,
    async end() {
      isOver = true
      isHeld = false
      clearInterval(pinging)
      clearTimeout(retry)
      await connection?.close()
    },
  }
}
