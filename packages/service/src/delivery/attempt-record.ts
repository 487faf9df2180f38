import { columnsOf } from '../db/columns.ts'
import type { Queries, Transaction } from '../db/database.ts'
import { raiseAlerts, type NewAlert } from '../features/alerts/raise-alert.ts'
import { disableEndpoint } from '../features/notifications/endpoint-store.ts'
import { appendToLog } from '../features/organizations/operator-log-store.ts'
import type { ErrorClass, Verdict } from './judge.ts'

/** What is kept of an attempt for whoever has to find out why. No bodies, and nothing secret. */
export interface AttemptDetails {
  readonly duration_ms?: number
  readonly address?: string | undefined
  readonly tls_version?: string | undefined
  readonly key_id?: string
  readonly status?: number | undefined
  readonly error_class?: ErrorClass | undefined
  readonly error?: string | undefined
  readonly next_attempt_at?: string | undefined
  readonly signature_base?: string
}

/** The end of one attempt. */
export interface FinishedAttempt {
  readonly deliveryId: string
  readonly endpointId: string
  readonly organizationId: string
  readonly attempt: number
  readonly worker: string
  readonly startedAt: string
  readonly finishedAt: string
  readonly verdict: Verdict
  readonly details: AttemptDetails
}

const STATES = {
  delivered: 'delivered',
  retry: 'pending',
  failed: 'failed',
  endpoint_gone: 'failed',
  dead: 'dead',
} as const

/** Whether more than the two delivery tables changes. */
export function hasConsequences({ verdict }: FinishedAttempt): boolean {
  return verdict.outcome === 'dead' || verdict.outcome === 'endpoint_gone'
}

/**
 * Writes what became of attempts, in one statement. A result that comes after its lease was given to somebody else
 * changes nothing. Returns the deliveries that were written.
 *
 * By the key of each: a condition on the state would let the server look for them in the index of all that waits.
 */
export async function recordAttempts(
  db: Queries,
  finished: readonly FinishedAttempt[],
): Promise<ReadonlySet<string>> {
  const rows = finished.map(({ verdict, details, ...each }) => ({
    delivery_id: each.deliveryId,
    attempt: each.attempt,
    worker: each.worker,
    state: STATES[verdict.outcome],
    next_attempt_at: verdict.outcome === 'retry' ? verdict.at : null,
    finished_at: verdict.outcome === 'retry' ? null : each.finishedAt,
    started_at: each.startedAt,
    outcome: verdict.outcome,
    details: JSON.stringify(details),
  }))
  const column = columnsOf(rows)
  const written = await db<{ delivery_id: string }[]>`
    with row as materialized (
      select delivery_id, attempt::integer, worker, state, nullif(next_attempt_at, '')::timestamptz as next_attempt_at,
        nullif(finished_at, '')::timestamptz as finished_at, started_at::timestamptz, outcome, details
      from (select ${column.separator}::text as mark) as sent, unnest(
        string_to_array(${column('delivery_id')}, mark), string_to_array(${column('attempt')}, mark),
        string_to_array(${column('worker')}, mark), string_to_array(${column('state')}, mark),
        string_to_array(${column('next_attempt_at')}, mark), string_to_array(${column('finished_at')}, mark),
        string_to_array(${column('started_at')}, mark), string_to_array(${column('outcome')}, mark),
        string_to_array(${column('details')}, mark)) as row (
        delivery_id, attempt, worker, state, next_attempt_at, finished_at, started_at, outcome, details)
    ), moved as (
      update delivery
      set state = row.state, next_attempt_at = coalesce(row.next_attempt_at, delivery.next_attempt_at),
        finished_at = row.finished_at, leased_until = null, leased_by = null
      from row
      where delivery.delivery_id = row.delivery_id and delivery.attempt = row.attempt
        and delivery.finished_at is null and delivery.leased_by = row.worker
      returning delivery.delivery_id, row.attempt, row.started_at, row.outcome, row.details
    ), kept as (
      insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
      select delivery_id, attempt, started_at, outcome, details from moved
    )
    select delivery_id from moved`
  return new Set(written.map(({ delivery_id }) => delivery_id))
}

/** The same where owners have to be told (dead letters) or endpoints disabled (410): all of it, or nothing. */
export async function recordWithConsequences(
  tx: Transaction,
  finished: readonly FinishedAttempt[],
): Promise<ReadonlySet<string>> {
  const written = await recordAttempts(tx, finished)
  const alerts: NewAlert[] = []
  // Streams are held one after the other, in the order in which writers hold them.
  for (const each of finished.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1))) {
    if (!written.has(each.deliveryId)) continue
    const { endpointId, organizationId, deliveryId, attempt, finishedAt: now, verdict } = each
    if (verdict.outcome === 'dead') {
      const reason = `attempt ${attempt} failed: ${verdict.reason}`
      alerts.push({ endpointId, organizationId, deliveryId, kind: 'delivery_dead', reason, now })
    }
    if (verdict.outcome === 'endpoint_gone') {
      const reason = 'the receiver answered 410 Gone'
      if (await disableEndpoint(tx, endpointId, reason, now)) {
        alerts.push({ endpointId, organizationId, deliveryId, kind: 'endpoint_disabled', reason, now })
        const details = { organization_id: organizationId, delivery_id: deliveryId, attempt }
        const entry = { actor: 'service', action: 'endpoint.disable', target: endpointId, reason }
        await appendToLog(tx, { ...entry, details, now })
      }
    }
  }
  await raiseAlerts(tx, alerts)
  return written
}
