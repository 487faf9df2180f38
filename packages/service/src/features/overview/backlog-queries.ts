import type { Queries } from '@agent-exchange/database'

/** Endpoints with pending deliveries that one look visits, and rows that it counts. */
const MAXIMUM_ENDPOINTS = 5_000
const MAXIMUM_COUNTED = 10_000
const MAXIMUM_LISTED = 20

export interface Backlog {
  /** Of active endpoints, and due. Null if nothing is due. */
  readonly oldest_due_at: string | null
  readonly webhook_endpoint_id: string | null
  /** When the oldest due delivery that waits for a worker became due: its endpoint has answered before. */
  readonly waits_for_worker_since: string | null
  /** The same of those that wait for their endpoint: it is slow, or has never answered. */
  readonly waits_for_endpoint_since: string | null
  /** That endpoint. */
  readonly slow_endpoint: { readonly webhook_endpoint_id: string; readonly organization_name: string } | null
  /** At most 10,000. */
  readonly pending: number
}

interface DueRow {
  readonly next_attempt_at: string
  readonly webhook_endpoint_id: string
  readonly organization_name: string
  readonly waits_for_worker: boolean
}

/**
 * The oldest due delivery, by a loose index scan: it jumps from endpoint to endpoint in the index of pending deliveries
 * and reads one row of each.
 *
 * Workers claim the oldest delivery of an endpoint first. If it is claimed, or if the endpoint has never answered (O-45),
 * the endpoint is the reason for the wait, not a lack of workers.
 */
export async function readBacklog(db: Queries, now: string): Promise<Backlog> {
  const [due, [counted]] = await Promise.all([
    db.byIndex<DueRow[]>`
      with recursive waiting as (
        (select webhook_endpoint_id, next_attempt_at, claim_id, 1 as visited from delivery where state = 'pending'
          order by webhook_endpoint_id, next_attempt_at limit 1)
        union all
        select next.webhook_endpoint_id, next.next_attempt_at, next.claim_id, visited + 1
        from waiting cross join lateral (
          select delivery.webhook_endpoint_id, delivery.next_attempt_at, delivery.claim_id from delivery
          where state = 'pending' and delivery.webhook_endpoint_id > waiting.webhook_endpoint_id
          order by delivery.webhook_endpoint_id, delivery.next_attempt_at limit 1) as next
        where visited < ${MAXIMUM_ENDPOINTS}
      ), due as (
        select next_attempt_at, webhook_endpoint_id, organization.name as organization_name,
          endpoint.answered_at is not null and claim_id is null as waits_for_worker
        from waiting
        join webhook_endpoint as endpoint using (webhook_endpoint_id)
        join organization using (organization_id)
        where endpoint.status = 'active' and organization.status = 'active' and next_attempt_at < ${now})
      select distinct on (waits_for_worker) next_attempt_at, webhook_endpoint_id, organization_name, waits_for_worker
      from due order by waits_for_worker, next_attempt_at`,
    db.byIndex<{ pending: number }[]>`
      select count(*)::integer as pending from (
        select from delivery where state = 'pending' limit ${MAXIMUM_COUNTED}) as counted`,
  ])
  const slow = due.find((each) => !each.waits_for_worker)
  const [oldest] = due.toSorted((a, b) => Date.parse(a.next_attempt_at) - Date.parse(b.next_attempt_at))
  return {
    oldest_due_at: oldest?.next_attempt_at ?? null,
    webhook_endpoint_id: oldest?.webhook_endpoint_id ?? null,
    waits_for_worker_since: due.find((each) => each.waits_for_worker)?.next_attempt_at ?? null,
    waits_for_endpoint_since: slow?.next_attempt_at ?? null,
    slow_endpoint: slow
      ? { webhook_endpoint_id: slow.webhook_endpoint_id, organization_name: slow.organization_name }
      : null,
    pending: counted?.pending ?? 0,
  }
}

export interface EndedBadly {
  /** Given up after the last attempt. */
  readonly dead: number
  /** Refused, or failed permanently in another way. */
  readonly failed: number
  /** Names of the organizations that they were for, the most affected first, at most 20 each. */
  readonly dead_owners: readonly string[]
  readonly failed_owners: readonly string[]
}

/**
 * Deliveries that ended badly since then, among the newest 10,000. Not those that were replayed, whose replay counts
 * instead, nor those to deleted endpoints, which nobody can mend.
 */
export async function countEndedBadly(db: Queries, since: string): Promise<EndedBadly> {
  const rows = await db.byIndex<{ state: 'dead' | 'failed'; name: string; count: number }[]>`
    with newest as (
      select delivery_id, webhook_endpoint_id, organization_id, state, finished_at from delivery
      where state in ('failed', 'dead') order by delivery_id desc limit ${MAXIMUM_COUNTED})
    select newest.state, name, count(*)::integer as count
    from newest join organization using (organization_id)
    where finished_at > ${since}
      and not exists (select from delivery as replay where replay.replay_of = newest.delivery_id offset 0)
      and exists (
        select from webhook_endpoint as endpoint
        where endpoint.webhook_endpoint_id = newest.webhook_endpoint_id and endpoint.status <> 'deleted')
    group by newest.state, organization_id, name order by count desc, name`
  const dead = rows.filter(({ state }) => state === 'dead')
  const failed = rows.filter(({ state }) => state === 'failed')
  return {
    dead: sum(dead),
    failed: sum(failed),
    dead_owners: dead.slice(0, MAXIMUM_LISTED).map(({ name }) => name),
    failed_owners: failed.slice(0, MAXIMUM_LISTED).map(({ name }) => name),
  }
}

function sum(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((total, { count }) => total + count, 0)
}

export interface FailingEndpoint {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly organization_name: string
  readonly failing_since: string
  readonly last_error: string | null
}

/** Active endpoints whose failure was reported and lasts, the longest first, at most 20. */
export async function listFailingEndpoints(db: Queries): Promise<FailingEndpoint[]> {
  return db.byIndex<FailingEndpoint[]>`
    select webhook_endpoint_id, organization_id, name as organization_name, failing_since, last_error
    from webhook_endpoint as endpoint join organization using (organization_id)
    where failure_alerted_at is not null and endpoint.status = 'active' and organization.status = 'active'
    order by failing_since limit ${MAXIMUM_LISTED}`
}

export interface DisabledEndpoint {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly organization_name: string
  readonly status_reason: string | null
  readonly disabled_at: string | null
}

/** The latest first, at most 20. */
export async function listDisabledEndpoints(db: Queries): Promise<DisabledEndpoint[]> {
  return db.byIndex<DisabledEndpoint[]>`
    select webhook_endpoint_id, organization_id, name as organization_name, status_reason, disabled_at
    from webhook_endpoint as endpoint join organization using (organization_id)
    where endpoint.status = 'disabled' order by disabled_at desc limit ${MAXIMUM_LISTED}`
}

export async function readDatabaseSize(db: Queries): Promise<number> {
  const [row] = await db<{ bytes: number }[]>`select pg_database_size(current_database()) as bytes`
  return row?.bytes ?? 0
}

/** The signing keys of the platform, each purpose with the end of its current key. */
export async function listKeyEnds(
  db: Queries,
  now: string,
): Promise<{ readonly purpose: string; readonly key_id: string; readonly valid_until: string }[]> {
  return db<{ purpose: string; key_id: string; valid_until: string }[]>`
    select distinct on (purpose) purpose, key_id, valid_until from platform_key
    where status = 'active' and not standby and valid_until > ${now}
    order by purpose, valid_until desc`
}
