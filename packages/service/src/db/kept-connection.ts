import { Connection } from './connection.ts'
import type { ConnectionOptions } from './database-address.ts'

export interface KeptConnectionSettings {
  readonly options: ConnectionOptions
  /** Before another connection is opened in place of a lost one. */
  readonly pauseMs: number
  readonly onOpen: (connection: Connection) => Promise<void>
  readonly onLost?: () => void
}

/** A connection outside the pools, which is opened again whenever it is lost. */
export interface KeptConnection {
  /** Settles when the first connection has been opened or has failed. */
  readonly opened: Promise<void>
  end(): void
}

export function keepConnected({ options, pauseMs, onOpen, onLost }: KeptConnectionSettings): KeptConnection {
  let current: Connection
  let retry: NodeJS.Timeout | undefined
  let isOver = false

  async function open(): Promise<void> {
    const connection = new Connection(options)
    current = connection
    connection.once('end', () => {
      onLost?.()
      if (!isOver) retry = setTimeout(() => void open().catch(() => undefined), pauseMs).unref()
    })
    await connection.connect()
    await onOpen(connection).catch((error: unknown) => {
      connection.end()
      throw error
    })
  }

  const opened = open()
  return {
    opened,
    end() {
      isOver = true
      clearTimeout(retry)
      current.end()
    },
  }
}
