import {
  PROTOCOL_VERSION,
  type NotificationEnvelope,
  type PackageState,
  type TransportMode,
} from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Transaction } from '../../db/database.ts'
import { leaveToCommit } from '../../db/transaction-lines.ts'
import type { NewId } from '../../kernel/ids.ts'
import { activeSubscriptions, insertDeliveries } from './deliveries.ts'

/** One immutable fact about a package, told to the streams of the organizations it concerns. */
export interface LifecycleEvent {
  readonly eventType: string
  readonly packageId: string
  readonly threadId: string
  readonly state: PackageState
  readonly transportMode: TransportMode
  readonly contentDigest: string
  readonly correlationId: string
  readonly occurredAt: string
  readonly organizations: readonly string[]
}

/**
 * EVT-01, EVT-04: writes the events in the transaction that caused them. The streams' counter rows are locked in
 * one order and to the end of the transaction, so that numbers are used without gap and seen in order. Once they are
 * locked the rest is sent, and left to the commit: nobody else gets on before it.
 */
export async function emitEvents(
  tx: Transaction,
  events: readonly LifecycleEvent[],
  newId: NewId,
): Promise<void> {
  if (events.length === 0) return
  const organizations = [...new Set(events.flatMap((event) => event.organizations))].toSorted()
  const { next, subscriptions } = await holdStreams(tx, organizations)
  const notifications = events.flatMap((event) => {
    const eventId = newId('evt')
    return [...new Set(event.organizations)].map((organizationId) => {
      const sequence = (next.get(organizationId) ?? 0) + 1
      next.set(organizationId, sequence)
      return toNotification(event, { eventId, organizationId, sequence, notificationId: newId('ntf') })
    })
  })
  leaveToCommit(
    tx,
    insertNotifications(tx, notifications),
    advanceStreams(tx, next),
    insertDeliveries(tx, notifications, subscriptions, newId),
  )
}

/** The last number of each stream, and who listens: an endpoint's status changes only under its stream's lock. */
async function holdStreams(tx: Transaction, organizations: readonly string[]) {
  const [next, subscriptions] = await Promise.all([
    lockStreams(tx, organizations),
    activeSubscriptions(tx, organizations),
  ])
  return { next, subscriptions }
}

async function lockStreams(tx: Transaction, organizations: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx<{ organization_id: string; last_sequence: number }[]>`
    select organization_id, last_sequence from notification_stream
    where organization_id = any(${[...organizations]}) order by organization_id for update`.execute()
  // It is made with its organization.
  if (rows.length < organizations.length) throw new Error('an organization has no stream')
  return new Map(rows.map((row) => [row.organization_id, row.last_sequence]))
}

async function advanceStreams(tx: Transaction, next: ReadonlyMap<string, number>): Promise<void> {
  await tx`
    update notification_stream set last_sequence = advanced.sequence
    from unnest(${[...next.keys()]}::text[], ${[...next.values()].map(String)}::text[]::bigint[])
      as advanced (organization_id, sequence)
    where notification_stream.organization_id = advanced.organization_id`.execute()
}

function toNotification(
  event: LifecycleEvent,
  made: { eventId: string; organizationId: string; sequence: number; notificationId: string },
): NotificationEnvelope {
  return {
    notification_id: made.notificationId,
    event_id: made.eventId,
    event_type: event.eventType,
    protocol_version: PROTOCOL_VERSION,
    sequence: made.sequence,
    occurred_at: event.occurredAt,
    organization_id: made.organizationId,
    package_id: event.packageId,
    thread_id: event.threadId,
    state: event.state,
    transport_mode: event.transportMode,
    content_digest: event.contentDigest,
    correlation_id: event.correlationId,
  }
}

async function insertNotifications(
  tx: Transaction,
  notifications: readonly NotificationEnvelope[],
): Promise<void> {
  const rows = notifications.map((envelope) => ({
    organization_id: envelope.organization_id,
    sequence: envelope.sequence,
    notification_id: envelope.notification_id,
    event_id: envelope.event_id,
    event_type: envelope.event_type,
    package_id: envelope.package_id,
    body: JSON.stringify(envelope),
    occurred_at: envelope.occurred_at,
  }))
  const column = columnsOf(rows)
  await tx`
    insert into notification
      (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
    select organization_id, sequence::bigint, notification_id, event_id, event_type, package_id, body,
      occurred_at::timestamptz
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('organization_id')}, mark), string_to_array(${column('sequence')}, mark),
      string_to_array(${column('notification_id')}, mark), string_to_array(${column('event_id')}, mark),
      string_to_array(${column('event_type')}, mark), string_to_array(${column('package_id')}, mark),
      string_to_array(${column('body')}, mark), string_to_array(${column('occurred_at')}, mark)) as row (
      organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)`.execute()
}
