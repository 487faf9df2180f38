import { ExchangeError } from '../errors.ts'
import type { Effect } from './inbox.ts'

/** An inbox of one stream cannot hold another: the numbers would be taken for each other's. */
export function foreignInbox(stream: string): ExchangeError {
  const what = `The inbox holds the stream of ${stream}; use another one for another organization or exchange.`
  return new ExchangeError('inbox_unavailable', { what })
}

/** A transaction is over when the effect returns, so one that goes on later would not be part of it. */
export function runEffect<Transaction>(
  effect: Effect<Transaction> | undefined,
  transaction: Transaction,
): void {
  const returned: unknown = effect?.(transaction)
  if (typeof returned !== 'object' || returned === null || !('then' in returned)) return
  Promise.resolve(returned).catch(() => undefined)
  throw new TypeError('An effect must be synchronous: do what waits in the handler, and return the rest.')
}
