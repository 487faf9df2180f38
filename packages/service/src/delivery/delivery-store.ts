import { MAXIMUM_DELIVERY_ATTEMPTS } from '@agent-exchange/protocol'
import { fragment, type Fragment, type Queries } from '../db/database.ts'
import { secondsAfter } from '../kernel/clock.ts'
import type { Wanted } from './lanes.ts'
import { SWEPT_LANES } from './limits.ts'

/** A delivery that this worker may send now, with all that it takes. */
export interface ClaimedDelivery {
  readonly delivery_id: string
  readonly claim_id: number
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly event_id: string
  /** Counted already. */
  readonly attempt: number
  /** When it came due. */
  readonly next_attempt_at: string
  readonly url: string
  readonly signing_key_id: string
  /** Whether the endpoint has ever answered with 2xx (O-45). */
  readonly has_answered: boolean
  /** Null where the notification is no longer kept. */
  readonly body: string | null
}

export interface ClaimOrder {
  readonly worker: string
  readonly now: string
  /** Earlier claims of the worker of which nothing is under way: they are removed. */
  readonly finished: readonly number[]
  /** O-45: for endpoints that have never answered with 2xx. */
  readonly unanswered: { readonly requests_at_once: number; readonly seconds_between: number }
}

/**
 * EVT-07: takes what is due in these lanes. The attempt is counted here, before anything is sent, so that no crash can
 * make an eighth. Rows that another worker is taking are passed over. What is under way lies before what waits, never
 * more than a few: no index changes, only the row.
 *
 * The endpoints of a suspended organization yield nothing. One that has never answered yields one at a time, and its
 * row is locked so that no other worker claims for it in the same moment.
 *
 * How many rows a lane yields the planner cannot know. So each row is looked up by its key, one by one: joins of what
 * was found would be planned for thousands, and read whole tables.
 */
export function claimDeliveries(
  db: Queries,
  wanted: readonly Wanted[],
  { worker, now, finished, unanswered }: ClaimOrder,
): Promise<ClaimedDelivery[]> {
  const { requests_at_once: atOnce, seconds_between: pause } = unanswered
  return db.byIndex<ClaimedDelivery[]>`
    with wanted as materialized (
      select lane.webhook_endpoint_id, lane.room
      from unnest(${wanted.map(({ endpointId }) => endpointId)}::text[], ${wanted.map(({ room }) => String(room))}::text[]::integer[])
        as lane (webhook_endpoint_id, room)
    ), unanswered as materialized (
      select endpoint.webhook_endpoint_id, least(wanted.room, ${pause === 0 ? fragment`${atOnce} - under_way.count` : fragment`1`}) as room
      from wanted join webhook_endpoint as endpoint on endpoint.webhook_endpoint_id = wanted.webhook_endpoint_id
      join organization on organization.organization_id = endpoint.organization_id
      cross join lateral (
        select count(*)::integer as count from delivery
        where delivery.webhook_endpoint_id = endpoint.webhook_endpoint_id and state = 'pending' and claim_id is not null
      ) as under_way
      where endpoint.answered_at is null and endpoint.status = 'active' and organization.status = 'active'
        and (endpoint.tried_at is null or endpoint.tried_at <= ${secondsAfter(now, -pause)})
        and under_way.count < ${atOnce}
      for no key update of endpoint skip locked
    ), due as materialized (
      select picked.delivery_id, lane.webhook_endpoint_id, lane.has_answered
      from (
        select endpoint.webhook_endpoint_id, wanted.room, true as has_answered
        from wanted join webhook_endpoint as endpoint on endpoint.webhook_endpoint_id = wanted.webhook_endpoint_id
          and endpoint.status = 'active' and endpoint.answered_at is not null
        join organization on organization.organization_id = endpoint.organization_id
          and organization.status = 'active'
        union all select webhook_endpoint_id, room, false from unanswered
      ) as lane cross join lateral (
        select delivery_id from delivery
        where delivery.webhook_endpoint_id = lane.webhook_endpoint_id and state = 'pending'
          and claim_id is null and next_attempt_at <= ${now} and attempt < ${MAXIMUM_DELIVERY_ATTEMPTS}
        order by next_attempt_at limit lane.room
        for update skip locked) as picked
    ), claim as materialized (
      insert into delivery_claim (worker, delivery_ids)
      select ${worker}, array_agg(delivery_id) from due having count(*) > 0
      returning claim_id
    ), claimed as (
      update delivery set attempt = attempt + 1, claim_id = (select claim_id from claim)
      where delivery_id = any(array(select delivery_id from due))
      returning delivery_id, claim_id, webhook_endpoint_id, organization_id, notification_id, event_id, attempt,
        next_attempt_at
    ), tried as (
      update webhook_endpoint set tried_at = ${now}
      where webhook_endpoint_id = any(array(select webhook_endpoint_id from due where not has_answered))
    ), removed as (
      delete from delivery_claim where worker = ${worker} and claim_id = any(${finished.map(String)}::text[]::bigint[])
    )
    select delivery_id, claim_id, webhook_endpoint_id, claimed.organization_id, event_id, attempt, next_attempt_at, url,
      signing_key_id, answered_at is not null as has_answered, (
        select body from notification where notification.notification_id = claimed.notification_id) as body
    from claimed join webhook_endpoint using (webhook_endpoint_id)
    order by next_attempt_at`
}

/** From here on its requests may have left. False where the claim was taken from this worker: nothing may leave then. */
export async function beginClaim(
  db: Queries,
  { worker, claimId, now }: { worker: string; claimId: number; now: string },
): Promise<boolean> {
  const { count } = await db`
    update delivery_claim set begun_at = ${now} where worker = ${worker} and claim_id = ${claimId}`
  return count > 0
}

export interface ReleasedDelivery {
  readonly deliveryId: string
  readonly claimId: number
  /** When it is due then. */
  readonly nextAttemptAt: string
}

/** Gives back what was claimed and never left: it counts as no attempt. */
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

export interface SweptLane {
  readonly webhook_endpoint_id: string
  readonly next_attempt_at: string
  /** Both the endpoint and its organization. */
  readonly is_active: boolean
}

/**
 * The endpoints after the given one that have something to send, each with its earliest time. One look into the
 * index for each of them, however much waits behind it.
 */
export function sweepLanes(db: Queries, after: string): Promise<SweptLane[]> {
  const next = (previous: string | Fragment) => fragment`
    select webhook_endpoint_id, next_attempt_at from delivery
    where state = 'pending' and claim_id is null and webhook_endpoint_id > ${previous}
    order by webhook_endpoint_id, next_attempt_at limit 1`
  return db.byIndex<SweptLane[]>`
    with recursive lane as (
      (${next(after)})
      union all
      select following.webhook_endpoint_id, following.next_attempt_at
      from lane cross join lateral (${next(fragment`lane.webhook_endpoint_id`)}) as following
    ), first as (select * from lane limit ${SWEPT_LANES})
    select first.webhook_endpoint_id, first.next_attempt_at,
      endpoint.status = 'active' and organization.status = 'active' as is_active
    from first join webhook_endpoint as endpoint using (webhook_endpoint_id) join organization using (organization_id)
    order by first.webhook_endpoint_id`
}

/** The same for endpoints by name, without those that are not active or whose pace is not that of the ladder (O-45). */
export function nextDueOf(db: Queries, endpoints: readonly string[]): Promise<SweptLane[]> {
  return db.byIndex<SweptLane[]>`
    select lane.webhook_endpoint_id, first.next_attempt_at, true as is_active
    from unnest(${[...endpoints]}::text[]) as lane (webhook_endpoint_id)
    join webhook_endpoint as endpoint on endpoint.webhook_endpoint_id = lane.webhook_endpoint_id
      and endpoint.status = 'active' and endpoint.answered_at is not null
    join organization on organization.organization_id = endpoint.organization_id and organization.status = 'active'
    cross join lateral (
      select next_attempt_at from delivery
      where delivery.webhook_endpoint_id = lane.webhook_endpoint_id and state = 'pending' and claim_id is null
      order by next_attempt_at limit 1) as first`
}
