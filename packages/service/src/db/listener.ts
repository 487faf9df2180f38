import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './wire/connection.ts'
import { queriesOver } from './wire/queries.ts'

const PAUSE_MS = 500

/** Hears what is said on a channel, over a connection of its own that is opened again when it ends. */
export interface Listener {
  /** When it listens for the first time; fails where the first connection does. */
  readonly listening: Promise<void>
  end(): Promise<void>
}

export interface ListenerSettings {
  readonly open: (onEnd: () => void) => Connection
  readonly channel: string
  readonly onMessage: (payload: string) => void
  /** Each time it begins to listen. */
  readonly onListening: () => void
}

export function listenTo({ open, channel, onMessage, onListening }: ListenerSettings): Listener {
  let isOver = false
  let connection: Connection | undefined

  async function listen(): Promise<void> {
    connection = open(() => void listenAgain())
    connection.onNotification(onMessage)
    const query = queriesOver(connection.send)
    try {
      await query`listen ${query(channel)}`
    } catch (error) {
      await connection.close()
      throw error
    }
    onListening()
  }

  async function listenAgain(): Promise<void> {
    await sleep(PAUSE_MS, undefined, { ref: false })
    // Where it fails, its connection ends, and that leads here again.
    if (!isOver) await listen().catch(() => undefined)
  }

  return {
    listening: listen(),
    async end() {
      isOver = true
      await connection?.close()
    },
  }
}
