import { ExchangeError } from '../errors.ts'
import type { ConfirmKey, KeyChange } from './peer-directory.ts'

/** Requests one confirmation per change, shared by concurrent callers. Throws unless it is given. */
export function createConfirmation(confirmKey: ConfirmKey | undefined): (change: KeyChange) => Promise<void> {
  const asking = new Map<string, Promise<boolean>>()

  async function ask(topic: string, change: KeyChange): Promise<boolean> {
    try {
      // Only `true` confirms.
      return (await confirmKey?.(change)) === true
    } finally {
      asking.delete(topic)
    }
  }

  return async (change) => {
    const { agentId, offered } = change
    const topic = JSON.stringify([agentId, offered.keyId, offered.fingerprint])
    const answer = asking.get(topic) ?? ask(topic, change)
    asking.set(topic, answer)
    let cause: unknown
    try {
      if (await answer) return
    } catch (error) {
      cause = error
    }
    throw new ExchangeError('peer_key_unconfirmed', {
      what: `The new ${offered.use} key of ${agentId} has the fingerprint ${offered.fingerprint}.`,
      details: { change },
      cause,
    })
  }
}
