import { keepConnected, type KeptConnection } from './kept-connection.ts'
import type { ConnectionOptions } from './database-address.ts'
import { identifier } from './queries.ts'

const PAUSE_MS = 500

export interface ListenerSettings {
  readonly options: ConnectionOptions
  readonly channel: string
  readonly onMessage: (payload: string) => void
  /** Called each time it begins to listen. */
  readonly onListening: () => void
}

/** Listens to a channel. Messages that arrive while the connection is lost are missed. */
export function listenTo({ options, channel, onMessage, onListening }: ListenerSettings): KeptConnection {
  return keepConnected({
    options,
    pauseMs: PAUSE_MS,
    async onOpen(connection) {
      connection.on('notification', onMessage)
      await connection.query`listen ${identifier(channel)}`
      onListening()
    },
  })
}
