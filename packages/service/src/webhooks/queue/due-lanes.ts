import { fragment, type Fragment, type Queries } from '@agent-exchange/database'
import { SWEEP_PAGE_SIZE } from '../worker/webhook-limits.ts'

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
