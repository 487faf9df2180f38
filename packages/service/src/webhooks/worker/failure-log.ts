import type { Logger } from 'pino'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'

/** Logs one line per failed attempt, without body and signature base. */
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
