import { ExchangeError } from '../errors.ts'
import type { Effect } from './inbox.ts'

/** An inbox belongs to one stream: sequence numbers of two streams would collide. */
export function foreignInbox(stream: string): ExchangeError {
  const what = `The inbox holds the stream of ${stream}; use another one for another organization or exchange.`
  return new ExchangeError('inbox_unavailable', { what })
}

/** For inboxes whose transaction ends when the effect returns: there, the effect must be synchronous. */
export function runEffect<Transaction>(
  effect: Effect<Transaction> | undefined,
  transaction: Transaction,
): void {
  const returned: unknown = effect?.(transaction)
  if (typeof returned !== 'object' || returned === null || !('then' in returned)) return
  Promise.resolve(returned).catch(() => undefined)
  throw new TypeError('An effect must be synchronous: do what waits in the handler, and return the rest.')
}
