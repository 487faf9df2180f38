import type { Tracing } from '../../kernel/tracing.ts'
import { attemptDelivery, type AttemptTools } from './attempt.ts'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'
import type { ClaimedDelivery } from '../queue/claim-deliveries.ts'

/** An attempt with its span, in the trace of the request that caused the notification. */
export async function tracedAttempt(
  tracing: Tracing,
  claimed: ClaimedDelivery,
  tools: AttemptTools,
): Promise<FinishedAttempt | undefined> {
  const span = tracing.startAttempt(claimed.traceparent, claimed.attempt)
  let finished: FinishedAttempt | undefined
  try {
    finished = await attemptDelivery(claimed, tools)
    return finished
  } finally {
    const { verdict, details } = finished ?? {}
    const { status, error_class: errorClass } = details ?? {}
    tracing.endAttempt(span, verdict && { outcome: verdict.outcome, status, errorClass })
  }
}
