import { secondsBetween } from '@agent-exchange/server/clock'
import type { NewAlert } from '../../features/alerts/alert-store.ts'
import type { EndpointHealth } from './endpoint-queries.ts'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'

/** An endpoint that has failed for this long is reported. Until then the first retry may succeed. */
const FAILING_ALERT_SECONDS = 60
/** Alerts about permanently failed deliveries of one endpoint have at least this distance: it may refuse all of them. */
const FAILED_ALERT_SECONDS = 3_600

interface HealthChange {
  readonly health: EndpointHealth
  readonly alerts: readonly NewAlert[]
}

/** What the results of one endpoint, in the order in which they ended, change about its health. */
export function applyResults(before: EndpointHealth, results: readonly FinishedAttempt[]): HealthChange {
  const alerts: NewAlert[] = []
  let health = before
  for (const result of results) {
    const change = applyResult(health, result)
    health = change.health
    alerts.push(...change.alerts)
  }
  return { health, alerts }
}

function applyResult(before: EndpointHealth, result: FinishedAttempt): HealthChange {
  const { outcome } = result.verdict
  if (outcome === 'delivered')
    return {
      health: { ...before, failing_since: null, last_error: null, failure_alerted_at: null },
      alerts: [],
    }
  // 410 disables the endpoint, which has its own alert.
  if (outcome === 'endpoint_gone') return { health: before, alerts: [] }
  const { health, alerts } = isFaultOfEndpoint(result)
    ? applyFault(before, result, result.verdict.reason)
    : { health: before, alerts: [] }
  if (outcome !== 'failed' || !isFailedAlertDue(health, result.finishedAt)) return { health, alerts }
  const reason = `attempt ${result.attempt} failed permanently: ${result.verdict.reason}`
  return {
    health: { ...health, failed_alerted_at: result.finishedAt },
    alerts: [...alerts, { ...subjectOf(result), kind: 'delivery_failed', reason }],
  }
}

function applyFault(before: EndpointHealth, result: FinishedAttempt, error: string): HealthChange {
  const { finishedAt: now } = result
  const since = before.failing_since ?? now
  const health = { ...before, failing_since: since, last_error: error }
  if (before.failure_alerted_at !== null || secondsBetween(since, now) < FAILING_ALERT_SECONDS)
    return { health, alerts: [] }
  const reason = `no delivery has succeeded since ${since}: ${error}`
  return {
    health: { ...health, failure_alerted_at: now },
    alerts: [{ ...subjectOf(result), kind: 'endpoint_failing', reason }],
  }
}

/** Whether a result can change the health of its endpoint or raise an alert about it. */
export function concernsHealth({ verdict, wasFailing }: FinishedAttempt): boolean {
  return verdict.outcome !== 'delivered' || wasFailing
}

/** Not of a worker that died or was stopped, nor of a notification that is gone. */
function isFaultOfEndpoint({ details: { status, error_class } }: FinishedAttempt): boolean {
  return status !== undefined || (error_class !== undefined && !OURS.has(error_class))
}

const OURS: ReadonlySet<string> = new Set(['lost', 'interrupted'])

function isFailedAlertDue({ failed_alerted_at: last }: EndpointHealth, now: string): boolean {
  return last === null || secondsBetween(last, now) >= FAILED_ALERT_SECONDS
}

function subjectOf({ endpointId, organizationId, deliveryId, finishedAt: now }: FinishedAttempt) {
  return { endpointId, organizationId, deliveryId, now }
}
