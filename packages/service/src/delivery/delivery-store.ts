import type { Queries, Transaction } from '../db/database.ts'
import { secondsAfter } from '../kernel/clock.ts'
import type { Wanted } from './lanes.ts'
import { ENDED_CLAIMS, LEASE_SECONDS, SWEPT_LANES } from './limits.ts'

/** A delivery that this worker may send now, with all that it takes. */
export interface ClaimedDelivery {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly event_id: string
  /** Counted already. */
  readonly attempt: number
  /** When it came due. */
  readonly next_attempt_at: string
  readonly url: string
  readonly signing_key_id: string
  /** Null where the notification is no longer kept. */
  readonly body: string | null
}

/**
 * EVT-07: takes what is due in these lanes, for the length of a lease. The attempt is counted here, before anything
 * is sent, so that no crash can make an eighth. Rows that another worker is taking are passed over. What is under way
 * lies before what waits, never more than a few: no index changes, only the row.
 *
 * How many rows a lane yields the planner cannot know. So each row is looked up by its key, one by one: joins of what
 * was found would be planned for thousands, and read whole tables.
 */
export function claimDeliveries(
  db: Queries,
  wanted: readonly Wanted[],
  { worker, now }: { worker: string; now: string },
): Promise<ClaimedDelivery[]> {
  return db<ClaimedDelivery[]>`
    with due as materialized (
      select picked.delivery_id
      from unnest(${wanted.map(({ endpointId }) => endpointId)}::text[], ${wanted.map(({ room }) => String(room))}::text[]::integer[])
        as lane (webhook_endpoint_id, room)
      join webhook_endpoint as endpoint on endpoint.webhook_endpoint_id = lane.webhook_endpoint_id
        and endpoint.status = 'active'
      cross join lateral (
        select delivery_id from delivery
        where delivery.webhook_endpoint_id = lane.webhook_endpoint_id and state = 'pending'
          and leased_until is null and next_attempt_at <= ${now} and attempt < 7
        order by next_attempt_at limit lane.room
        for update skip locked) as picked
    ), leased as (
      insert into delivery_claim (leased_until, worker, delivery_ids)
      select ${secondsAfter(now, LEASE_SECONDS)}, ${worker}, array_agg(delivery_id) from due having count(*) > 0
    ), claimed as (
      update delivery
      set attempt = attempt + 1, leased_until = ${secondsAfter(now, LEASE_SECONDS)}, leased_by = ${worker}
      where delivery_id = any(array(select delivery_id from due))
      returning delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, attempt, next_attempt_at
    )
    select delivery_id, webhook_endpoint_id, claimed.organization_id, event_id, attempt, next_attempt_at, url,
      signing_key_id, (
        select body from notification where notification.notification_id = claimed.notification_id) as body
    from claimed join webhook_endpoint using (webhook_endpoint_id)
    order by next_attempt_at`
}

/** Gives back what was claimed and never left: it counts as no attempt. */
export async function releaseDeliveries(
  db: Queries,
  released: readonly { deliveryId: string; attempt: number; nextAttemptAt: string }[],
  worker: string,
): Promise<void> {
  if (released.length === 0) return
  const rows = released.map(({ deliveryId, attempt, nextAttemptAt }) => ({
    delivery_id: deliveryId,
    attempt,
    worker,
    next_attempt_at: nextAttemptAt,
  }))
  await db`
    update delivery
    set attempt = delivery.attempt - 1, leased_until = null, leased_by = null, next_attempt_at = row.next_attempt_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      delivery_id text, attempt integer, worker text, next_attempt_at timestamptz)
    where delivery.delivery_id = row.delivery_id and delivery.attempt = row.attempt
      and delivery.leased_by = row.worker`
}

export interface SweptLane {
  readonly webhook_endpoint_id: string
  readonly next_attempt_at: string
  readonly is_active: boolean
}

/**
 * The endpoints after the given one that have something to send, each with its earliest time. One look into the
 * index for each of them, however much waits behind it.
 */
export function sweepLanes(db: Queries, after: string): Promise<SweptLane[]> {
  const next = (previous: unknown) => db`
    select webhook_endpoint_id, next_attempt_at from delivery
    where state = 'pending' and leased_until is null and webhook_endpoint_id > ${previous as string}
    order by webhook_endpoint_id, next_attempt_at limit 1`
  return db<SweptLane[]>`
    with recursive lane as (
      (${next(after)})
      union all
      select following.webhook_endpoint_id, following.next_attempt_at
      from lane cross join lateral (${next(db`lane.webhook_endpoint_id`)}) as following
    ), first as (select * from lane limit ${SWEPT_LANES})
    select first.webhook_endpoint_id, first.next_attempt_at, endpoint.status = 'active' as is_active
    from first join webhook_endpoint as endpoint using (webhook_endpoint_id)
    order by first.webhook_endpoint_id`
}

/** The same for endpoints by name. */
export function nextDueOf(db: Queries, endpoints: readonly string[]): Promise<SweptLane[]> {
  return db<SweptLane[]>`
    select lane.webhook_endpoint_id, first.next_attempt_at, true as is_active
    from unnest(${[...endpoints]}::text[]) as lane (webhook_endpoint_id)
    cross join lateral (
      select next_attempt_at from delivery
      where delivery.webhook_endpoint_id = lane.webhook_endpoint_id and state = 'pending' and leased_until is null
      order by next_attempt_at limit 1) as first`
}

export interface LostDelivery {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly attempt: number
  readonly leased_until: string
  readonly leased_by: string
}

export interface EndedClaims {
  readonly count: number
  readonly lost: readonly LostDelivery[]
}

/**
 * Claims whose lease has ended go, ENDED_CLAIMS at most; what of them is still under way was lost, and is held for the
 * caller's transaction.
 */
export async function takeEndedClaims(tx: Transaction, now: string): Promise<EndedClaims> {
  const rows = await tx<({ count: number } & { [Name in keyof LostDelivery]: LostDelivery[Name] | null })[]>`
    with ended as (
      delete from delivery_claim where (leased_until, claim_id) in (
        select leased_until, claim_id from delivery_claim where leased_until <= ${now}
        order by leased_until, claim_id limit ${ENDED_CLAIMS} for update skip locked)
      returning delivery_ids)
    select (select count(*) from ended) as count, lost.*
    from (values (true)) as once left join lateral (
      select delivery_id, webhook_endpoint_id, organization_id, attempt, leased_until, leased_by from delivery
      where delivery_id = any(array(select unnest(delivery_ids) from ended))
        and finished_at is null and leased_until <= ${now}
      order by delivery_id for update) as lost on true`
  const lost = rows.filter((row): row is { count: number } & LostDelivery => row.delivery_id !== null)
  return { count: rows[0]?.count ?? 0, lost }
}

/** Workers that have claimed something in the length of a lease, this one left out. */
export async function countOtherWorkers(db: Queries, worker: string, now: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(distinct worker) as count from delivery_claim where leased_until > ${now} and worker <> ${worker}`
  return row?.count ?? 0
}
