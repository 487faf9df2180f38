import { fragment, type Fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { RANDOM_DIGITS, startOfIds, TIME_DIGITS } from '../../kernel/ids.ts'
import { removeAttempts } from './attempt-store.ts'

/**
 * The owner of the table delivery. The fragments are parts of statements that change other tables in the same round trip:
 * they name what those statements read, and have their indentation.
 */

/** Where the time begins in a notification id; SQL counts from 1. */
const TIME_START = 'ntf_'.length + 1

const newDeliveryId = fragment`'dlv_' || substr(notification_id, ${TIME_START}, ${TIME_DIGITS})
          || right(replace(gen_random_uuid()::text, '-', ''), ${RANDOM_DIGITS})`

/** A delivery of each notification in `numbered` to each endpoint of its organization that subscribed to it. */
export const insertDue = fragment`insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
        state, next_attempt_at, created_at)
      select ${newDeliveryId},
        webhook_endpoint_id, organization_id, package_id, notification_id, event_id, 'pending', occurred_at, occurred_at
      from numbered join webhook_endpoint using (organization_id)
      where status = 'active' and (event_types = '{}' or event_type = any(event_types))
      returning webhook_endpoint_id`

/**
 * The same deliveries, not inserted yet: `is_direct` for as many of an endpoint as it has slots. Only endpoints that
 * answer, of active organizations: the rules of a claim.
 */
export const selectAddressed = (
  slots: readonly { readonly endpointId: string; readonly room: number }[],
): Fragment => fragment`select ${newDeliveryId} as delivery_id, endpoint.webhook_endpoint_id, organization_id, package_id, notification_id,
        event_id, occurred_at, sequence, url, signing_key_id, coalesce(
          answered_at is not null and failing_since is null and organization.status = 'active'
            and row_number() over (partition by endpoint.webhook_endpoint_id order by sequence) <= slot.room,
          false) as is_direct
      from numbered join webhook_endpoint as endpoint using (organization_id) join organization using (organization_id)
        left join unnest(${slots.map(({ endpointId }) => endpointId)}::text[],
          ${slots.map(({ room }) => String(room))}::text[]::integer[]) as slot (webhook_endpoint_id, room)
          on slot.webhook_endpoint_id = endpoint.webhook_endpoint_id
      where endpoint.status = 'active' and (event_types = '{}' or event_type = any(event_types))`

/** The deliveries in `addressed`. The direct ones belong to `claim`, with their first attempt counted (EVT-07). */
export const insertAddressed = fragment`insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
        state, next_attempt_at, created_at, attempt, claim_id)
      select delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, 'pending',
        occurred_at, occurred_at, is_direct::integer, case when is_direct then (select claim_id from claim) end
      from addressed
      returning webhook_endpoint_id, claim_id`

/** EVT-07: counts the attempt of the deliveries in `due`, under `claim`. Touches no indexed column (HOT). */
export const markClaimed = fragment`update delivery set attempt = attempt + 1, claim_id = (select claim_id from claim)
      where delivery_id = any(array(select delivery_id from due))
      returning delivery_id, claim_id, webhook_endpoint_id, organization_id, notification_id, event_id, attempt,
        next_attempt_at`

/** Gives deliveries the states in `row`, unless their claim was reclaimed. */
export const moveDeliveries = fragment`update delivery
      set state = row.state, next_attempt_at = coalesce(row.next_attempt_at, delivery.next_attempt_at),
        finished_at = row.finished_at, claim_id = null
      from row
      where delivery.delivery_id = row.delivery_id and delivery.claim_id = row.claim_id
      returning delivery.delivery_id, row.attempt, row.started_at, row.outcome, row.details`

export interface ReleasedDelivery {
  readonly deliveryId: string
  readonly claimId: number
  /** The new due time. */
  readonly nextAttemptAt: string
}

/** Releases claimed deliveries that were not sent. Their attempt is not counted. */
export async function releaseDeliveries(db: Queries, released: readonly ReleasedDelivery[]): Promise<void> {
  if (released.length === 0) return
  const rows = released.map(({ deliveryId, claimId, nextAttemptAt }) => ({
    delivery_id: deliveryId,
    claim_id: claimId,
    next_attempt_at: nextAttemptAt,
  }))
  await db.byIndex`
    update delivery set attempt = delivery.attempt - 1, claim_id = null, next_attempt_at = row.next_attempt_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      delivery_id text, claim_id bigint, next_attempt_at timestamptz)
    where delivery.delivery_id = row.delivery_id and delivery.claim_id = row.claim_id`
}

/** A delivery that an operator had made. */
export interface ReplayRow {
  readonly delivery_id: string
  readonly replay_of: string | null
  readonly notification_id: string
  readonly event_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly package_id: string
}

/** EVT-12. A replay of a notification that is no longer kept is left out. */
export async function insertReplayRows(
  tx: Transaction,
  rows: readonly ReplayRow[],
  { actor, reason, now }: { actor: string; reason: string; now: string },
): Promise<void> {
  await tx`
    insert into delivery
      (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
       next_attempt_at, created_at, replay_of, replay_actor, replay_reason)
    select delivery_id, webhook_endpoint_id, row.organization_id, row.package_id, notification_id, row.event_id, 'pending',
      ${now}, ${now}, replay_of, ${actor}, ${reason}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      delivery_id text, webhook_endpoint_id text, organization_id text, package_id text, notification_id text,
      event_id text, replay_of text) join notification using (notification_id)`
}

/** Deliveries to a deleted endpoint fail without another attempt; one that is under way may still say how it went. */
export async function endPendingOf(tx: Transaction, endpointId: string, now: string): Promise<number> {
  const { count } = await tx`
    update delivery set state = 'failed', finished_at = ${now}
    where webhook_endpoint_id = ${endpointId} and state = 'pending' and claim_id is null`
  return count
}

/**
 * The same for what nobody will ever send: the endpoint was deleted while it was on its way, or its notification is
 * no longer kept. In steps; returns how many.
 */
export async function endHopeless(
  tx: Transaction,
  { now, notificationsBefore, limit }: { now: string; notificationsBefore: string; limit: number },
): Promise<number> {
  const { count } = await tx`
    update delivery set state = 'failed', finished_at = ${now}
    where delivery_id in (
      select delivery_id from delivery join webhook_endpoint as endpoint using (webhook_endpoint_id)
      where state = 'pending' and claim_id is null
        and (endpoint.status = 'deleted' or delivery.created_at < ${notificationsBefore} and not exists (
          select from notification where notification.notification_id = delivery.notification_id offset 0))
      limit ${limit} for update of delivery skip locked)
      and finished_at is null and claim_id is null`
  return count
}

/**
 * A delivery that was replayed is removed after its replay. No delivery is finished before the time in its id. Each
 * endpoint has its own range of the index.
 */
export async function removeOldDeliveries(tx: Transaction, before: string, limit: number): Promise<number> {
  await leaveAttemptsToPartitions(tx)
  const gone = await tx<{ delivery_id: string }[]>`
    delete from delivery where delivery_id = any(array(
      select old.delivery_id from webhook_endpoint as endpoint cross join lateral (
        select delivery_id from delivery as old
        where old.webhook_endpoint_id = endpoint.webhook_endpoint_id and state = 'delivered'
          and delivery_id < ${startOfIds('dlv', before)} and finished_at < ${before} and not exists (
            select from delivery where replay_of = old.delivery_id)
        limit ${limit} for update skip locked) as old
      limit ${limit}))
    returning delivery_id`
  await removeAttempts(
    tx,
    gone.map(({ delivery_id }) => delivery_id),
  )
  return gone.length
}

export async function removeOldFailedDeliveries(
  tx: Transaction,
  before: string,
  limit: number,
): Promise<number> {
  await leaveAttemptsToPartitions(tx)
  const gone = await tx<{ delivery_id: string }[]>`
    delete from delivery where delivery_id in (
      select delivery_id from delivery as old
      where state in ('failed', 'dead') and delivery_id < ${startOfIds('dlv', before)} and finished_at < ${before}
        and not exists (select from delivery where replay_of = old.delivery_id)
      order by delivery_id limit ${limit} for update skip locked)
    returning delivery_id`
  await removeAttempts(
    tx,
    gone.map(({ delivery_id }) => delivery_id),
  )
  return gone.length
}

/** Every other delete of a delivery deletes its attempts by a trigger. */
async function leaveAttemptsToPartitions(tx: Transaction): Promise<void> {
  await tx`select set_config('aex.attempts_leave_by_partition', 'on', true)`
}

/** At most `limit` of those that no worker is sending. @returns the number of deliveries */
export async function removeDeliveriesOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const rows = await tx<{ delivery_id: string }[]>`
    select own.delivery_id from webhook_endpoint as endpoint cross join lateral (
      (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
        and state = 'pending' and claim_id is null limit ${limit})
      union all (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
        and state = 'delivered' limit ${limit})
      union all (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
        and state in ('failed', 'dead') limit ${limit})) as own
    where endpoint.organization_id = ${organizationId} limit ${limit}`
  const ids = rows.map(({ delivery_id }) => delivery_id)
  // A replay may stay for the next step: it must not refer to what goes in this one.
  await tx`update delivery set replay_of = null where replay_of = any(${ids})`
  await tx`
    delete from delivery where delivery_id = any(${ids}) and (state <> 'pending' or claim_id is null)`
  return ids.length
}
