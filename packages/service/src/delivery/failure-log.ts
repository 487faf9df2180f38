import type { Logger } from 'pino'
import type { FinishedAttempt } from './attempt-record.ts'

/** One line for each attempt that failed. What was sent and what was signed stay out of it. */
export function logFailure(log: Logger, finished: FinishedAttempt): void {
  const { deliveryId, endpointId, organizationId, attempt, verdict, details } = finished
  const { status, error_class, error, address, duration_ms, next_attempt_at } = details
  log.warn(
    {
      delivery_id: deliveryId,
      webhook_endpoint_id: endpointId,
      organization_id: organizationId,
      attempt,
      outcome: verdict.outcome,
      status,
      error_class,
      error,
      address,
      duration_ms,
      next_attempt_at,
    },
    'webhook delivery failed',
  )
}
