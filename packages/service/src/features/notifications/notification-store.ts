import type { Acknowledgement } from '@agent-exchange/protocol'
import { fragment, type Transaction } from '@agent-exchange/database'
import { startOfIds } from '../../kernel/ids.ts'
import type { DirectDelivery, DirectReservation } from '../../kernel/direct-claims.ts'
import { columnsOf } from '../../kernel/row-columns.ts'
import { DELIVERY_CHANNEL, MAXIMUM_NAMED_ENDPOINTS } from '../../webhooks/queue/delivery-channel.ts'
import { insertDirectClaim } from '../../webhooks/queue/claim-store.ts'
import { insertAddressed, insertDue, selectAddressed } from '../../webhooks/queue/delivery-store.ts'

/** The owner of the tables notification, notification_stream and notification_acknowledgement. */

/** An empty stream for a new organization. */
export async function openStream(tx: Transaction, organizationId: string): Promise<void> {
  await tx`insert into notification_stream (organization_id) values (${organizationId})`
}

/** A notification without its sequence number. */
export interface NotificationRow {
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

/**
 * Advances and locks the streams. A separate statement, because the snapshot of the next one must include the counters
 * that concurrent transactions committed while this one waited for its locks.
 */
export async function advanceStreams(tx: Transaction, rows: readonly NotificationRow[]): Promise<void> {
  const streams = [...Map.groupBy(rows, (row) => row.organization_id)]
  const column = columnsOf(
    streams.map(([organizationId, own]) => ({ organization_id: organizationId, count: own.length })),
  )
  await tx.byIndex`
    update notification_stream set last_sequence = last_sequence + added.count::bigint
    from (
      select organization_id, count from (select ${column.separator}::text as mark) as sent, unnest(
        string_to_array(${column('organization_id')}, mark), string_to_array(${column('count')}, mark))
        as row (organization_id, count)
      order by organization_id) as added
    where notification_stream.organization_id = added.organization_id`
}

/**
 * Inserts the notifications with the sequence numbers that `advanceStreams` reserved, a delivery for each subscribed
 * endpoint, and notifies the workers. An endpoint's status changes only under the lock of its stream. Returns the
 * deliveries that were claimed for the reserved slots; the workers are notified of the others.
 */
export async function writeNotifications(
  tx: Transaction,
  rows: readonly NotificationRow[],
  reservation?: DirectReservation,
): Promise<DirectDelivery[]> {
  const column = columnsOf(withOffsets(rows))
  // Without tracing the statement has no such column, and nothing is sent for it.
  const isTraced = rows.some(({ traceparent }) => traceparent !== null)
  const traced = {
    sent: isTraced ? fragment`, string_to_array(${column('traceparent')}, mark)` : fragment``,
    name: isTraced ? fragment`, traceparent` : fragment``,
    value: isTraced ? fragment`, nullif(traceparent, '')` : fragment``,
  }
  const found = await tx<ClaimedRow[]>`
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
    ), ${reservation ? claimAndInsert(reservation, rows[0]?.occurred_at ?? '') : fragment`due as (${insertDue})`}
    ${reservation ? DIRECT_ROWS : fragment``}
    select pg_notify(${DELIVERY_CHANNEL}, case when count(distinct webhook_endpoint_id) > ${MAXIMUM_NAMED_ENDPOINTS}
      then '' else string_agg(distinct webhook_endpoint_id, ' ') end)::text as notified${reservation ? NO_DIRECT_ROW : fragment``}
    from due ${reservation ? fragment`where claim_id is null` : fragment``} having count(*) > 0`
  return reservation ? toDirect(found, rows) : []
}

/** Null members: the row of the notification to the workers. */
interface ClaimedRow {
  readonly delivery_id: string | null
  readonly claim_id: number
  readonly webhook_endpoint_id: string
  readonly notification_id: string
  readonly sequence: number
  readonly url: string
  readonly signing_key_id: string
}

const claimAndInsert = (
  { slots, worker }: DirectReservation,
  now: string,
) => fragment`addressed as materialized (
      ${selectAddressed(slots)}
    ), claim as materialized (
      ${insertDirectClaim(worker, now)}
    ), due as (
      ${insertAddressed}
    )`
const DIRECT_ROWS = fragment`select null as notified, delivery_id, (select claim_id from claim) as claim_id, webhook_endpoint_id,
      notification_id, sequence, url, signing_key_id
    from addressed where is_direct
    union all`
const NO_DIRECT_ROW = fragment`, null, null, null, null, null, null, null`

function toDirect(found: readonly ClaimedRow[], rows: readonly NotificationRow[]): DirectDelivery[] {
  const notifications = new Map(rows.map((row) => [row.notification_id, row]))
  return found.flatMap(({ delivery_id, notification_id, sequence, ...rest }) => {
    const notification = notifications.get(notification_id)
    if (delivery_id === null || !notification) return []
    const { organization_id, event_id, occurred_at, before, after, traceparent } = notification
    return {
      ...rest,
      delivery_id,
      organization_id,
      event_id,
      next_attempt_at: occurred_at,
      body: `${before}${sequence}${after}`,
      traceparent,
    }
  })
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

export interface AcknowledgementRow {
  readonly notification_id: string
  readonly organization_id: string
  readonly body: Acknowledgement
  readonly acknowledged_at: string
}

export async function insertAcknowledgements(
  tx: Transaction,
  rows: readonly AcknowledgementRow[],
): Promise<void> {
  if (rows.length === 0) return
  // Sorted, so that concurrent batches lock rows in the same order and cannot deadlock.
  const sorted = rows.toSorted((a, b) => (a.notification_id < b.notification_id ? -1 : 1))
  await tx`
    insert into notification_acknowledgement (notification_id, organization_id, body, acknowledged_at)
    select notification_id, organization_id, body::text, acknowledged_at
    from json_to_recordset(${JSON.stringify(sorted)}::text::json)
      as row (notification_id text, organization_id text, body json, acknowledged_at timestamptz)
    on conflict (notification_id) do nothing`
}

/** Removes from the old end of each stream, so that the rest has no gap. A cursor before that end gets a problem. */
export async function removeOldNotifications(
  tx: Transaction,
  before: string,
  limit: number,
): Promise<number> {
  // Times of neighbours may be out of order by a moment; sequences decide where a stream is cut.
  const cuts = await tx<{ organization_id: string; sequence: number }[]>`
    select organization_id, max(sequence) as sequence from (
      select organization_id, sequence from notification where notification_id < ${startOfIds('ntf', before)}
      order by notification_id limit ${limit}) as old
    group by organization_id order by organization_id`
  const sent = JSON.stringify(cuts)
  await tx`
    update notification_stream set first_retained = greatest(first_retained, cut.sequence + 1)
    from json_to_recordset(${sent}::text::json) as cut (organization_id text, sequence bigint)
    where notification_stream.organization_id = cut.organization_id`
  const { count } = await tx`
    delete from notification using json_to_recordset(${sent}::text::json)
      as cut (organization_id text, sequence bigint)
    where notification.organization_id = cut.organization_id and notification.sequence <= cut.sequence`
  return count
}

/** At most `limit` from the old end of the stream, with their acknowledgements. @returns the number of notifications */
export async function removeNotificationsOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const [gone] = await tx<{ count: number; last: number | null }[]>`
    with gone as (
      delete from notification where organization_id = ${organizationId} and sequence in (
        select sequence from notification where organization_id = ${organizationId} order by sequence limit ${limit})
      returning sequence, notification_id),
    acknowledged as (
      delete from notification_acknowledgement using gone
      where notification_acknowledgement.notification_id = gone.notification_id)
    select count(*) as count, max(sequence) as last from gone`
  const { count = 0, last = null } = gone ?? {}
  if (last !== null)
    await tx`
      update notification_stream set first_retained = greatest(first_retained, ${last + 1})
      where organization_id = ${organizationId}`
  return count
}
