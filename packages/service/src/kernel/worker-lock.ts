import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Session } from '../db/database.ts'
import { numberOf } from './named-locks.ts'

const RETRY_MS = 100
const PING_MS = 1_000
/** A server that takes longer to answer counts as lost. */
const PING_LIMIT_MS = 5_000

/**
 * PostgreSQL ends the session, and with it the lock, of a holder that has hung for a minute or whose machine is gone.
 * The keepalive settings have no effect on unix sockets.
 */
const SESSION_SETTINGS = {
  // Waiting for the previous holder is normal; only the limit of a statement ends it.
  lock_timeout: '0',
  idle_session_timeout: '60000',
  tcp_keepalives_idle: '1',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '2',
}

/**
 * Holds the name of a worker until the database is closed, by an advisory lock on a connection of its own: if the lock
 * is free, the worker is gone. Acquires it again after the connection was lost.
 */
export function holdWorkerName(
  db: Database,
  worker: string,
  onChange: (isHeld: boolean) => void,
): { isHeld(): boolean } {
  let holder: Session | undefined
  const opened = db.keepConnection({
    settings: SESSION_SETTINGS,
    retryMs: RETRY_MS,
    async onOpen(session) {
      // A lost connection holds the lock until the server notices.
      await session.sql`select pg_advisory_lock(${numberOf('worker', worker)}::text::bigint)`
      if (session.isLost) return
      holder = session
      void keepAlive(session)
      onChange(true)
    },
    onLost: () => onChange(false),
  })
  // The next try follows by itself.
  opened.catch(() => undefined)
  return { isHeld: () => holder?.isLost === false }
}

async function keepAlive(session: Session): Promise<void> {
  while (!session.isLost) {
    const limit = setTimeout(() => void session.end(), PING_LIMIT_MS)
    await session.sql`select 1 as one`.catch(() => undefined)
    clearTimeout(limit)
    await sleep(PING_MS, undefined, { ref: false })
  }
}
