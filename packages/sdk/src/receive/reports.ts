import type { ExchangeError } from '../errors.ts'
import type { Gap } from './inbox.ts'

/** What a receiver has to tell beside the events themselves. None of it holds content. */
export type ReceiverReport =
  /** A webhook was refused, or put off where the error is `retryable`. */
  | { readonly kind: 'webhook_rejected'; readonly error: ExchangeError; readonly status: number }
  /** Polling, acknowledging, the key directory or the inbox failed; it is tried again. */
  | { readonly kind: 'trouble'; readonly during: Activity; readonly error: unknown }
  /** Something else came under an id or a sequence that is taken. Nothing was changed. */
  | { readonly kind: 'event_conflict'; readonly error: ExchangeError }
  /** Numbers of the stream that the exchange cannot give any more. */
  | { readonly kind: 'gap'; readonly gap: Gap }
  /** The handler failed; it is called again. */
  | {
      readonly kind: 'handler_failed'
      readonly eventId: string
      readonly attempt: number
      readonly error: unknown
    }
  /** The handler failed too often; the event waits for `retrySetAside`. */
  | { readonly kind: 'set_aside'; readonly eventId: string; readonly reason: string }

export type Activity = 'poll' | 'acknowledgement' | 'key_refresh' | 'inbox' | 'prune'

export type OnReport = (report: ReceiverReport) => void

/** A listener that fails must not take the receiver with it. */
export function guarded(onReport: OnReport = () => undefined): OnReport {
  return (report) => {
    try {
      onReport(report)
    } catch {
      // The listener's own failure is its own affair.
    }
  }
}
