import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import type { ConnectionOptions } from './database-address.ts'

/** A connection outside the pools. */
export type Session = Pick<Connection, 'sql' | 'isLost' | 'end'>

export interface KeptConnectionSettings<Opened = Session> {
  /** Settings of the session, beside those of every session. */
  readonly settings?: Readonly<Record<string, string>>
  /** Pause before a lost connection is replaced. */
  readonly retryMs: number
  readonly onOpen: (session: Opened) => Promise<void>
  /** Not called after `end`. */
  readonly onLost?: () => void
}

/** Opens a connection, and another one whenever it is lost. */
export function keepConnected(
  options: ConnectionOptions,
  { settings, retryMs, onOpen, onLost }: KeptConnectionSettings<Connection>,
) {
  const opened = Promise.withResolvers<void>()
  let current: Connection | undefined
  let isOver = false

  async function run(): Promise<void> {
    while (!isOver) {
      try {
        const connection = await openConnection({
          ...options,
          settings: { ...options.settings, ...settings },
        })
        current = connection
        if (isOver) break
        const closed = new Promise((resolve) => connection.once('end', resolve))
        await onOpen(connection)
        opened.resolve()
        await closed
        if (!isOver) onLost?.()
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
    /** Settles when the first connection has been opened or has failed. */
    opened: opened.promise,
    end() {
      isOver = true
      void current?.end()
    },
  }
}
