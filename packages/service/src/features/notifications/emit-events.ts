import {
  PROTOCOL_VERSION,
  type NotificationEnvelope,
  type PackageState,
  type TransportMode,
} from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Transaction } from '../../db/database.ts'
import { deferToCommit } from '../../db/transaction-pool.ts'
import { orderedId, RANDOM_DIGITS, TIME_DIGITS, type NewId } from '../../kernel/ids.ts'
import { DELIVERY_CHANNEL, MAXIMUM_NAMED_ENDPOINTS } from './delivery-channel.ts'

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
 * EVT-01, EVT-04: writes the events in the transaction that caused them. The streams' counter rows are locked in one
 * order and to the end of the transaction, so that numbers are used without gap and seen in order. It is left to the
 * commit: the server gives the numbers, so nobody holds a stream for longer than the server takes to write.
 */
export function emitEvents(tx: Transaction, events: readonly LifecycleEvent[], newId: NewId): void {
  if (events.length === 0) return
  const rows = events.flatMap((event) => {
    const eventId = newId('evt')
    return [...new Set(event.organizations)].map((organizationId) => toRow(event, organizationId, eventId))
  })
  deferToCommit(tx, moveStreams(tx, rows), writeNotifications(tx, rows))
}

const PREFIX = 'ntf'
/** Where the time begins in a notification id; SQL counts from 1, and an underscore ends the prefix. */
const TIME_START = PREFIX.length + 2

/** A notification without its number. */
interface NotificationRow {
  readonly organization_id: string
  readonly notification_id: string
  readonly event_id: string
  readonly event_type: string
  readonly package_id: string
  readonly occurred_at: string
  /** Of the body, what stands before the number, and after it. */
  readonly before: string
  readonly after: string
}

function toRow(event: LifecycleEvent, organizationId: string, eventId: string): NotificationRow {
  const first = {
    notification_id: orderedId(PREFIX, event.occurredAt),
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
  }
}

/**
 * Moves the streams on, by as many as each is told, and so locks them. By itself: a statement sees what was committed before it
 * began, and the next one is to see where all of these streams now stand.
 */
async function moveStreams(tx: Transaction, rows: readonly NotificationRow[]): Promise<void> {
  const told = [...Map.groupBy(rows, (row) => row.organization_id)]
  await tx.byIndex`
    update notification_stream set last_sequence = last_sequence + told.count
    from (
      select * from unnest(${told.map(([organizationId]) => organizationId)}::text[],
        ${told.map(([, own]) => String(own.length))}::text[]::bigint[]) as row (organization_id, count)
      order by organization_id) as told
    where notification_stream.organization_id = told.organization_id`
}

/**
 * The notifications with the last numbers of their streams, which have moved on by as many; and a delivery for each active
 * endpoint that wants the event, of which the workers are told; its id begins with the notification's time. An endpoint's
 * status changes only under its stream's lock, and one without a filter wants all. Without a stream there is no number, and
 * the statement fails.
 */
async function writeNotifications(tx: Transaction, rows: readonly NotificationRow[]): Promise<void> {
  const column = columnsOf(withPlaces(rows))
  await tx`
    with told as (
      select organization_id, notification_id, event_id, event_type, package_id, occurred_at::timestamptz, before, after,
        last_sequence - behind::bigint as sequence
      from (select ${column.separator}::text as mark) as sent, unnest(
        string_to_array(${column('organization_id')}, mark), string_to_array(${column('notification_id')}, mark),
        string_to_array(${column('event_id')}, mark), string_to_array(${column('event_type')}, mark),
        string_to_array(${column('package_id')}, mark), string_to_array(${column('occurred_at')}, mark),
        string_to_array(${column('before')}, mark), string_to_array(${column('after')}, mark),
        string_to_array(${column('behind')}, mark)) as row (
        organization_id, notification_id, event_id, event_type, package_id, occurred_at, before, after, behind)
      left join notification_stream using (organization_id)
    ), written as (
      insert into notification
        (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
      select organization_id, sequence, notification_id, event_id, event_type, package_id, before || sequence || after,
        occurred_at
      from told
    ), due as (
      insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
        state, next_attempt_at, created_at)
      select 'dlv_' || substr(notification_id, ${TIME_START}, ${TIME_DIGITS})
          || right(replace(gen_random_uuid()::text, '-', ''), ${RANDOM_DIGITS}),
        webhook_endpoint_id, organization_id, package_id, notification_id, event_id, 'pending', occurred_at, occurred_at
      from told join webhook_endpoint using (organization_id)
      where status = 'active' and (event_types = '{}' or event_type = any(event_types))
      returning webhook_endpoint_id
    )
    select pg_notify(${DELIVERY_CHANNEL}, case when count(distinct webhook_endpoint_id) > ${MAXIMUM_NAMED_ENDPOINTS}
      then '' else string_agg(distinct webhook_endpoint_id, ' ') end)
    from due having count(*) > 0`
}

/** How many of the same stream come after each. */
function withPlaces(rows: readonly NotificationRow[]) {
  const left = new Map<string, number>()
  for (const { organization_id } of rows) left.set(organization_id, (left.get(organization_id) ?? 0) + 1)
  return rows.map((row) => {
    const behind = (left.get(row.organization_id) ?? 0) - 1
    left.set(row.organization_id, behind)
    return { ...row, behind }
  })
}
