import { isDeepStrictEqual } from 'node:util'
import { MAXIMUM_DELIVERY_ATTEMPTS } from '@agent-exchange/protocol'
import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { columnsOf } from '../../kernel/row-columns.ts'
import { raiseAlerts, type NewAlert } from '../../features/alerts/alert-store.ts'
import { disableEndpoint, markAnswered, saveHealth } from '../endpoints/endpoint-store.ts'
import { GONE_REASON, lockHealth } from '../endpoints/endpoint-queries.ts'
import { appendToLog } from '../../features/operators/operator-log-store.ts'
import type { Verdict } from '../worker/classify-attempt.ts'
import { applyResults, concernsHealth } from '../endpoints/endpoint-health.ts'
import { insertAttempts } from './attempt-store.ts'
import { deleteClaims } from './claim-store.ts'
import { moveDeliveries } from './delivery-store.ts'
import type { FinishedAttempt } from './finished-attempt.ts'

const STATES = {
  delivered: 'delivered',
  retry: 'pending',
  failed: 'failed',
  endpoint_gone: 'failed',
  dead: 'dead',
} as const

/** The state of a delivery after an attempt. */
export function stateAfter({ outcome }: Verdict): (typeof STATES)[keyof typeof STATES] {
  return STATES[outcome]
}

/** Whether recording the result changes more than the two delivery tables. */
export function hasSideEffects(finished: FinishedAttempt): boolean {
  return concernsHealth(finished) || isFirstAnswer(finished)
}

function isFirstAnswer({ verdict, hasAnswered }: FinishedAttempt): boolean {
  return verdict.outcome === 'delivered' && !hasAnswered
}

/** The result of the last attempt must not be lost: the delivery would become a dead letter. */
export function isLastAttempt({ attempt }: FinishedAttempt): boolean {
  return attempt >= MAXIMUM_DELIVERY_ATTEMPTS
}

/** Claims of a worker without unfinished deliveries. */
export interface FinishedClaims {
  readonly worker: string
  readonly claimIds: readonly number[]
}

interface RecordOptions {
  /** False: the commit does not wait for the disk. If the server crashes, the attempt counts as lost (O-44). */
  readonly isFlushed?: boolean
  /** To be removed by the same statement. */
  readonly finishedClaims?: FinishedClaims
}

/**
 * Records results in one statement and returns the ids of the recorded deliveries. A result whose claim was reclaimed
 * changes nothing. No condition on `state`: the planner would then scan the index of pending deliveries.
 */
export async function recordAttempts(
  db: Queries,
  finished: readonly FinishedAttempt[],
  { isFlushed = true, finishedClaims }: RecordOptions = {},
): Promise<ReadonlySet<string>> {
  const rows = finished.map(({ verdict, details, ...each }) => ({
    delivery_id: each.deliveryId,
    attempt: each.attempt,
    claim_id: each.claimId,
    state: stateAfter(verdict),
    next_attempt_at: verdict.outcome === 'retry' ? verdict.at : null,
    finished_at: verdict.outcome === 'retry' ? null : each.finishedAt,
    started_at: each.startedAt,
    outcome: verdict.outcome,
    details: JSON.stringify(details),
  }))
  const column = columnsOf(rows)
  const written = await db.byIndex<{ delivery_id: string }[]>`
    with row as materialized (
      select delivery_id, attempt::integer, claim_id::bigint, state, nullif(next_attempt_at, '')::timestamptz as next_attempt_at,
        nullif(finished_at, '')::timestamptz as finished_at, started_at::timestamptz, outcome, details
      from (select ${column.separator}::text as mark) as sent, unnest(
        string_to_array(${column('delivery_id')}, mark), string_to_array(${column('attempt')}, mark),
        string_to_array(${column('claim_id')}, mark), string_to_array(${column('state')}, mark),
        string_to_array(${column('next_attempt_at')}, mark), string_to_array(${column('finished_at')}, mark),
        string_to_array(${column('started_at')}, mark), string_to_array(${column('outcome')}, mark),
        string_to_array(${column('details')}, mark)) as row (
        delivery_id, attempt, claim_id, state, next_attempt_at, finished_at, started_at, outcome, details)
    ), moved as (
      ${moveDeliveries}
    ), kept as (
      ${insertAttempts}
    )${finishedClaims ? fragment`, removed as (${deleteClaims(finishedClaims.worker, finishedClaims.claimIds)})` : fragment``}
    select delivery_id${isFlushed ? fragment`` : fragment`, set_config('synchronous_commit', 'off', true)`} from moved`
  return new Set(written.map(({ delivery_id }) => delivery_id))
}

/** Records results together with their alerts, disabled endpoints (410), health of endpoints and first 2xx responses. */
export async function recordWithSideEffects(
  tx: Transaction,
  finished: readonly FinishedAttempt[],
): Promise<ReadonlySet<string>> {
  const written = await recordAttempts(tx, finished)
  const alerts: NewAlert[] = []
  // Notification streams are locked in organization order, as all writers do.
  for (const each of finished.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1))) {
    if (!written.has(each.deliveryId)) continue
    const { endpointId, organizationId, deliveryId, attempt, finishedAt: now, verdict } = each
    if (verdict.outcome === 'dead') {
      const reason = `attempt ${attempt} failed: ${verdict.reason}`
      alerts.push({ endpointId, organizationId, deliveryId, kind: 'delivery_dead', reason, now })
    }
    if (verdict.outcome === 'endpoint_gone') {
      const reason = GONE_REASON
      if (await disableEndpoint(tx, endpointId, reason, now)) {
        alerts.push({ endpointId, organizationId, deliveryId, kind: 'endpoint_disabled', reason, now })
        const details = { organization_id: organizationId, delivery_id: deliveryId, attempt }
        const entry = { actor: 'service', action: 'endpoint.disable', target: endpointId, reason }
        await appendToLog(tx, { ...entry, details, now })
      }
    }
  }
  const recorded = finished.filter((each) => written.has(each.deliveryId))
  // First, because it locks the endpoints in sorted order.
  alerts.push(...(await recordHealth(tx, recorded)))
  await markAnswered(tx, recorded.filter(isFirstAnswer))
  await raiseAlerts(tx, alerts)
  return written
}

/** Writes only rows that change, and returns the alerts to raise. */
async function recordHealth(tx: Transaction, finished: readonly FinishedAttempt[]): Promise<NewAlert[]> {
  const concerned = new Set(finished.filter(hasSideEffects).map(({ endpointId }) => endpointId))
  if (concerned.size === 0) return []
  const inOrder = finished.toSorted((a, b) => Date.parse(a.finishedAt) - Date.parse(b.finishedAt))
  const byEndpoint = Map.groupBy(inOrder, ({ endpointId }) => endpointId)
  const healths = await lockHealth(tx, [...concerned])
  const changes = [...healths].map(([id, before]) => ({
    id,
    before,
    ...applyResults(before, byEndpoint.get(id) ?? []),
  }))
  const changed = changes.filter(({ before, health }) => !isDeepStrictEqual(before, health))
  await saveHealth(tx, new Map(changed.map(({ id, health }) => [id, health])))
  return changes.flatMap(({ alerts }) => alerts)
}
