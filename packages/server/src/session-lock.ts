import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Session } from '@agent-exchange/database'

const RETRY_MS = 100
/** Pause between two tries while another process holds the lock. */
const TRY_MS = 500
const PING_MS = 1_000
/** A server that takes longer to answer counts as lost. */
const PING_LIMIT_MS = 5_000

/**
 * PostgreSQL ends the session, and with it the lock, of a holder that has hung for a minute or whose machine is gone.
 * The keepalive settings have no effect on unix sockets.
 */
const SESSION_SETTINGS = {
  idle_session_timeout: '60000',
  tcp_keepalives_idle: '1',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '2',
}

/**
 * Holds an advisory lock (its number, as text) until the database is closed, on a connection of its own: if the lock is
 * free, its holder is gone. Acquires it again after the connection was lost.
 */
export function holdLock(
  db: Database,
  lock: string,
  onChange: (isHeld: boolean) => void,
): { isHeld(): boolean } {
  let holder: Session | undefined
  const opened = db.keepConnection({
    settings: SESSION_SETTINGS,
    retryMs: RETRY_MS,
    async onOpen(session) {
      while (!(await tryLock(session, lock))) await sleep(TRY_MS, undefined, { ref: false })
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

/**
 * Another process may hold the lock for days, and a lost connection holds it until the server notices. A statement that
 * waited for it would keep its snapshot, and no row that anybody updates meanwhile could be cleaned up.
 */
async function tryLock(session: Session, lock: string): Promise<boolean> {
  const [row] = await answered(
    session,
    session.sql<{ taken: boolean }[]>`
      select pg_try_advisory_lock(${lock}::text::bigint) as taken`,
  )
  return row?.taken === true
}

async function keepAlive(session: Session): Promise<void> {
  while (!session.isLost) {
    await answered(session, session.sql`select 1 as one`).catch(() => undefined)
    await sleep(PING_MS, undefined, { ref: false })
  }
}

/** Ends the session if the server does not answer in time. */
async function answered<Rows>(session: Session, rows: PromiseLike<Rows>): Promise<Rows> {
  const limit = setTimeout(() => void session.end(), PING_LIMIT_MS)
  try {
    return await rows
  } finally {
    clearTimeout(limit)
  }
}
