import {
  PROTOCOL_VERSION,
  type NotificationEnvelope,
  type PackageState,
  type TransportMode,
} from '@agent-exchange/protocol'
import { columnsOf } from '../../kernel/row-columns.ts'
import { deferToCommit, fragment, type Transaction } from '@agent-exchange/database'
import { orderedId, RANDOM_DIGITS, TIME_DIGITS } from '../../kernel/ids.ts'
import { DELIVERY_CHANNEL, MAXIMUM_NAMED_ENDPOINTS } from '../../webhooks/queue/delivery-channel.ts'

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
export function emitEvents(tx: Transaction, events: readonly LifecycleEvent[]): void {
  if (events.length === 0) return
  const rows = events.flatMap((event) => {
    const eventId = orderedId('evt', event.occurredAt)
    return [...new Set(event.organizations)].map((organizationId) => toRow(event, organizationId, eventId))
  })
  deferToCommit(tx, advanceStreams(tx, rows), writeNotifications(tx, rows))
}

const PREFIX = 'ntf'
/** Where the time begins in a notification id; SQL counts from 1, and an underscore ends the prefix. */
const TIME_START = PREFIX.length + 2

/** A notification without its sequence number. */
interface NotificationRow {
  readonly organization_id: string
  readonly notification_id: string
  readonly event_id: string
  readonly event_type: string
  readonly package_id: string
  readonly occurred_at: string
  /** The body before and after its sequence number. */
  readonly before: string
  readonly after: string
  readonly traceparent: string | null
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
    traceparent: event.traceparent ?? null,
  }
}

/**
 * Advances and locks the streams. A separate statement, because the snapshot of the next one must include the counters
 * that concurrent transactions committed while this one waited for its locks.
 */
async function advanceStreams(tx: Transaction, rows: readonly NotificationRow[]): Promise<void> {
  const streams = [...Map.groupBy(rows, (row) => row.organization_id)]
  await tx.byIndex`
    update notification_stream set last_sequence = last_sequence + added.count
    from (
      select * from unnest(${streams.map(([organizationId]) => organizationId)}::text[],
        ${streams.map(([, own]) => String(own.length))}::text[]::bigint[]) as row (organization_id, count)
      order by organization_id) as added
    where notification_stream.organization_id = added.organization_id`
}

/**
 * Inserts the notifications with the sequence numbers that `advanceStreams` reserved, a delivery for each subscribed
 * endpoint, and notifies the workers. An endpoint's status changes only under the lock of its stream.
 */
async function writeNotifications(tx: Transaction, rows: readonly NotificationRow[]): Promise<void> {
  const column = columnsOf(withOffsets(rows))
  // Without tracing the statement has no such column, and nothing is sent for it.
  const isTraced = rows.some(({ traceparent }) => traceparent !== null)
  const traced = {
    sent: isTraced ? fragment`, string_to_array(${column('traceparent')}, mark)` : fragment``,
    name: isTraced ? fragment`, traceparent` : fragment``,
    value: isTraced ? fragment`, nullif(traceparent, '')` : fragment``,
  }
  await tx`
    with numbered as (
      select organization_id, notification_id, event_id, event_type, package_id, occurred_at::timestamptz, before, after,
        last_sequence - behind::bigint as sequence${traced.name}
      from (select ${column.separator}::text as mark) as sent, unnest(
        string_to_array(${column('organization_id')}, mark), string_to_array(${column('notification_id')}, mark),
        string_to_array(${column('event_id')}, mark), string_to_array(${column('event_type')}, mark),
        string_to_array(${column('package_id')}, mark), string_to_array(${column('occurred_at')}, mark),
        string_to_array(${column('before')}, mark), string_to_array(${column('after')}, mark),
        string_to_array(${column('behind')}, mark)${traced.sent}) as row (
        organization_id, notification_id, event_id, event_type, package_id, occurred_at, before, after,
        behind${traced.name})
      left join notification_stream using (organization_id)
    ), written as (
      insert into notification
        (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at${traced.name})
      select organization_id, sequence, notification_id, event_id, event_type, package_id, before || sequence || after,
        occurred_at${traced.value}
      from numbered
    ), due as (
      insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
        state, next_attempt_at, created_at)
      select 'dlv_' || substr(notification_id, ${TIME_START}, ${TIME_DIGITS})
          || right(replace(gen_random_uuid()::text, '-', ''), ${RANDOM_DIGITS}),
        webhook_endpoint_id, organization_id, package_id, notification_id, event_id, 'pending', occurred_at, occurred_at
      from numbered join webhook_endpoint using (organization_id)
      where status = 'active' and (event_types = '{}' or event_type = any(event_types))
      returning webhook_endpoint_id
    )
    select pg_notify(${DELIVERY_CHANNEL}, case when count(distinct webhook_endpoint_id) > ${MAXIMUM_NAMED_ENDPOINTS}
      then '' else string_agg(distinct webhook_endpoint_id, ' ') end)
    from due having count(*) > 0`
}

/** Adds to each row how many rows of the same stream follow it. */
function withOffsets(rows: readonly NotificationRow[]) {
  const remaining = new Map<string, number>()
  for (const { organization_id } of rows)
    remaining.set(organization_id, (remaining.get(organization_id) ?? 0) + 1)
  return rows.map((row) => {
    const behind = (remaining.get(row.organization_id) ?? 0) - 1
    remaining.set(row.organization_id, behind)
    return { ...row, behind }
  })
}
