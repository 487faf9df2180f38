import type { LoggedKeyEvent } from '@agent-exchange/protocol'
import { CryptoError } from '@agent-exchange/crypto'
import { leafOfShownEvent, LogError } from '@agent-exchange/log'

/** The leaf of an event as the exchange shows it; empty where what it shows can be no leaf. */
export function shownKeyLeaf(agentId: string, event: LoggedKeyEvent): Uint8Array | undefined {
  if (event.salt === undefined) return undefined
  try {
    return leafOfShownEvent({ ...event, agent_id: agentId, salt: event.salt })
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return new Uint8Array()
    throw error
  }
}
