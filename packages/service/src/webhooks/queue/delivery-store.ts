import { MAXIMUM_DELIVERY_ATTEMPTS } from '@agent-exchange/protocol'
import { fragment, type Fragment, type Queries } from '@agent-exchange/database'
import { secondsAfter } from '../../kernel/clock.ts'
import type { ClaimRequest } from '../worker/lanes.ts'
import { SWEEP_PAGE_SIZE } from '../worker/webhook-limits.ts'

/** A delivery that this worker may send now, with everything the request needs. */
export interface ClaimedDelivery {
  readonly delivery_id: string
  readonly claim_id: number
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly event_id: string
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** When the delivery became due. */
  readonly next_attempt_at: string
  readonly url: string
  readonly signing_key_id: string
  /** Whether the endpoint has ever answered with 2xx (O-45). */
  readonly has_answered: boolean
  /** Whether the last attempt to the endpoint failed. */
  readonly was_failing: boolean
  /** Null after the notification has passed its retention period. */
  readonly body: string | null
  /** W3C trace context of the request that caused the notification. Read only with tracing. */
  readonly traceparent?: string | null
}

export interface ClaimOptions {
  readonly worker: string
  readonly now: string
  /** Finished claims of this worker, to be removed by the same statement. */
  readonly finished: readonly number[]
  /** O-45: for endpoints that have never answered with 2xx. */
  readonly unanswered: { readonly requests_at_once: number; readonly seconds_between: number }
  /** Whether to read `traceparent`. */
  readonly isTraced?: boolean
}

/**
 * EVT-07: claims due deliveries. The attempt is counted before the request is sent, so that no crash can cause an eighth
 * attempt. The update touches no indexed column (HOT). Rows are looked up by primary key through lateral joins, because
 * the planner overestimates the row count of a lane and would scan whole tables.
 *
 * O-45: the row of an endpoint without a 2xx response is locked, so that only one worker at a time claims for it.
 */
export function claimDeliveries(
  db: Queries,
  wanted: readonly ClaimRequest[],
  { worker, now, finished, unanswered, isTraced = false }: ClaimOptions,
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
      signing_key_id, answered_at is not null as has_answered, failing_since is not null as was_failing, (
        select body from notification where notification.notification_id = claimed.notification_id) as body${
          isTraced
            ? fragment`, (
        select traceparent from notification where notification.notification_id = claimed.notification_id) as traceparent`
            : fragment``
        }
    from claimed join webhook_endpoint using (webhook_endpoint_id)
    order by next_attempt_at`
}

/** Marks the claim as started. False if the claim was reclaimed by another worker: then no request may be sent. */
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

export interface SweptLane {
  readonly webhook_endpoint_id: string
  readonly next_attempt_at: string
  /** Whether both the endpoint and its organization are active. */
  readonly is_active: boolean
}

const laneAfter = (previous: string | Fragment) => fragment`
  select webhook_endpoint_id, next_attempt_at from delivery
  where state = 'pending' and claim_id is null and webhook_endpoint_id > ${previous}
  order by webhook_endpoint_id, next_attempt_at limit 1`

/**
 * One page of the endpoints with pending deliveries, each with its earliest due time. A loose index scan: one index
 * lookup per endpoint, whatever the length of its backlog.
 */
export function sweepLanes(db: Queries, after: string): Promise<SweptLane[]> {
  return db.byIndex<SweptLane[]>`
    with recursive lane as (
      (${laneAfter(after)})
      union all
      select following.webhook_endpoint_id, following.next_attempt_at
      from lane cross join lateral (${laneAfter(fragment`lane.webhook_endpoint_id`)}) as following
    ), first as (select * from lane limit ${SWEEP_PAGE_SIZE})
    select first.webhook_endpoint_id, first.next_attempt_at,
      endpoint.status = 'active' and organization.status = 'active' as is_active
    from first join webhook_endpoint as endpoint using (webhook_endpoint_id) join organization using (organization_id)
    order by first.webhook_endpoint_id`
}

/** The earliest due time of the given endpoints. Leaves out inactive ones and those paced by O-45. */
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
