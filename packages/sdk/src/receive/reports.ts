import type { ExchangeError } from '../errors.ts'
import type { Gap } from './inbox.ts'

/** Reports of a receiver beside its events. They contain no content. */
export type ReceiverReport =
  /** A webhook was refused, or deferred if the error is `retryable`. */
  | { readonly kind: 'webhook_rejected'; readonly error: ExchangeError; readonly status: number }
  /** Polling, acknowledging, the key directory or the inbox failed, and is retried. */
  | { readonly kind: 'trouble'; readonly during: Activity; readonly error: unknown }
  /** Another event arrived under a stored id or sequence. Nothing was changed. */
  | { readonly kind: 'event_conflict'; readonly error: ExchangeError }
  /** Sequence numbers that the exchange no longer has. */
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

/** A failing listener must not stop the receiver. */
export function guarded(onReport: OnReport = () => undefined): OnReport {
  return (report) => {
    try {
      onReport(report)
    } catch {
      // A failure of the listener is ignored.
    }
  }
}
