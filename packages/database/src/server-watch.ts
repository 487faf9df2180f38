import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { PING_LIMIT_MS, PING_MS } from './connection-limits.ts'
import type { ConnectionOptions } from './database-address.ts'
import { keepConnected } from './kept-connection.ts'

export interface WatchLimits {
  readonly pingMs?: number
  readonly pingLimitMs?: number
}

interface ServerObserver {
  /** The server has answered, and is of the required role. */
  readonly onAnswer: () => void
  /** The server does not answer, or is no longer of the required role. */
  readonly onGone: () => void
}

/**
 * Pings the server on a connection of its own. A frozen machine and a cut network close no connection, so nothing else
 * would notice them before the limit of an answer.
 */
export function watchServer(
  options: ConnectionOptions,
  { onAnswer, onGone }: ServerObserver,
  { pingMs = PING_MS, pingLimitMs = PING_LIMIT_MS }: WatchLimits = {},
): { end(): void } {
  const kept = keepConnected(options, {
    retryMs: pingMs,
    async onOpen(connection) {
      void watch(connection)
    },
  })
  // The next try follows by itself.
  kept.opened.catch(() => undefined)
  return kept

  async function watch(connection: Connection): Promise<void> {
    while (!connection.isLost) {
      if (!(await isOfUse(connection, options.role, pingLimitMs))) {
        if (!connection.isLost) onGone()
        return void connection.end()
      }
      onAnswer()
      await sleep(pingMs, undefined, { ref: false })
    }
  }
}

async function isOfUse(
  connection: Connection,
  role: ConnectionOptions['role'],
  limitMs: number,
): Promise<boolean> {
  const over = new AbortController()
  const isAnswered = connection.sql<{ standby: boolean }[]>`select pg_is_in_recovery() as standby`.then(
    ([row]) => role !== 'primary' || row?.standby === false,
    () => false,
  )
  // A blocked event loop runs timers before it reads the answer, so one more turn decides.
  const isLate = sleep(limitMs, undefined, { ref: false, signal: over.signal })
    .then(() => setImmediate(false))
    .catch(() => false)
  return Promise.race([isAnswered, isLate]).finally(() => over.abort())
}
