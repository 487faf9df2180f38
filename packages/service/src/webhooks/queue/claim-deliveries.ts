import { MAXIMUM_DELIVERY_ATTEMPTS } from '@agent-exchange/protocol'
import { fragment, type Queries } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import { markTried } from '../endpoints/endpoint-store.ts'
import type { ClaimRequest } from '../worker/lanes.ts'
import { deleteClaims, insertClaim } from './claim-store.ts'
import { markClaimed } from './delivery-store.ts'

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
      ${insertClaim(worker)}
    ), claimed as (
      ${markClaimed}
    ), tried as (
      ${markTried(now)}
    ), removed as (
      ${deleteClaims(worker, finished)}
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
