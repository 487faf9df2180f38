import {
  PROTOCOL_VERSION,
  type NotificationEnvelope,
  type PackageState,
  type TransportMode,
} from '@agent-exchange/protocol'
import { afterEnd, deferToCommit, type Transaction } from '@agent-exchange/database'
import type { DirectClaims, DirectDelivery } from '../../kernel/direct-claims.ts'
import { orderedId } from '../../kernel/ids.ts'
import { advanceStreams, writeNotifications, type NotificationRow } from './notification-store.ts'

/** An immutable event of a package, for the notification streams of the organizations concerned. */
export interface LifecycleEvent {
  readonly eventType: string
  readonly packageId: string
  readonly threadId: string
  readonly state: PackageState
  readonly transportMode: TransportMode
  readonly contentDigest: string
  readonly correlationId: string
  /** W3C trace context of the request. Undefined without tracing. */
  readonly traceparent: string | undefined
  readonly occurredAt: string
  readonly organizations: readonly string[]
}

/**
 * EVT-01, EVT-04: writes the events in the transaction that caused them. Stream counters are locked in one order until
 * the commit, so sequence numbers have no gaps and become visible in order. Deferred to the commit to keep locks short.
 */
export function emitEvents(
  tx: Transaction,
  events: readonly LifecycleEvent[],
  directClaims: DirectClaims | undefined,
): void {
  if (events.length === 0) return
  const rows = events.flatMap((event) => {
    const eventId = orderedId('evt', event.occurredAt)
    return [...new Set(event.organizations)].map((organizationId) => toRow(event, organizationId, eventId))
  })
  const advancing = advanceStreams(tx, rows)
  const counts = Map.groupBy(rows, ({ organization_id }) => organization_id)
  const reservation = directClaims?.reserve(new Map([...counts].map(([id, own]) => [id, own.length])))
  let claimed: readonly DirectDelivery[] = []
  if (reservation) afterEnd(tx, (outcome) => reservation.end(outcome, claimed))
  const writing = writeNotifications(tx, rows, reservation).then((direct) => (claimed = direct))
  deferToCommit(tx, advancing, writing)
}

function toRow(event: LifecycleEvent, organizationId: string, eventId: string): NotificationRow {
  const first = {
    notification_id: orderedId('ntf', event.occurredAt),
    event_id: eventId,
    event_type: event.eventType,
    protocol_version: PROTOCOL_VERSION,
  } satisfies Partial<NotificationEnvelope>
  const last = {
    occurred_at: event.occurredAt,
    organization_id: organizationId,
    package_id: event.packageId,
    thread_id: event.threadId,
    state: event.state,
    transport_mode: event.transportMode,
    content_digest: event.contentDigest,
    correlation_id: event.correlationId,
  } satisfies Omit<NotificationEnvelope, keyof typeof first | 'sequence'>
  return {
    organization_id: organizationId,
    notification_id: first.notification_id,
    event_id: eventId,
    event_type: event.eventType,
    package_id: event.packageId,
    occurred_at: event.occurredAt,
    before: `${JSON.stringify(first).slice(0, -1)},"sequence":`,
    after: `,${JSON.stringify(last).slice(1)}`,
    traceparent: event.traceparent ?? null,
  }
}
