import type { ExchangeError } from '../errors.ts'
import type { Gap } from './inbox.ts'

/** Reports of a receiver beside its events. They contain no content. */
export type ReceiverReport =
  /** A webhook was refused, or deferred if the error is `retryable`. */
  | { readonly kind: 'webhook_rejected'; readonly error: ExchangeError; readonly status: number }
  /** Polling, acknowledging, the key directory, the transparency log, the inbox or the own keys failed, and is retried. */
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
  /** Another receiver of the same inbox handles the event. This one waits, and takes over if that one ends. */
  | { readonly kind: 'handled_elsewhere'; readonly eventId: string; readonly heldBy: string }
  /** A package was not handed to the handler: its receipt says so to the sender, or its content is gone. */
  | {
      readonly kind: 'package_refused'
      readonly packageId: string
      readonly receipt: 'rejected' | 'failed' | undefined
      readonly error: ExchangeError
    }
  /** The handler failed too often, or cannot succeed; the event waits for `retrySetAside`. */
  | { readonly kind: 'set_aside'; readonly eventId: string; readonly reason: string }

/**
 * `exchange`: the exchange was unreachable while a package was opened or answered. `keys`: the agent's own keys could
 * not be used for that.
 */
export type Activity =
  | 'poll'
  | 'log'
  | 'exchange'
  | 'keys'
  | 'acknowledgement'
  | 'key_refresh'
  | 'inbox'
  | 'prune'

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
