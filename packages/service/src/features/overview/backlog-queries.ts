import type { Queries } from '../../db/database.ts'

/** Endpoints with pending deliveries that one look visits, and rows that it counts. */
const MAXIMUM_ENDPOINTS = 5_000
const MAXIMUM_COUNTED = 10_000
const MAXIMUM_LISTED = 20

export interface Backlog {
  /** Of active endpoints, and due. Null if nothing is due. */
  readonly oldest_due_at: string | null
  readonly webhook_endpoint_id: string | null
  /** At most 10,000. */
  readonly pending: number
}

/**
 * The oldest due delivery, by a loose index scan: it jumps from endpoint to endpoint in the index of pending deliveries
 * and reads one row of each.
 */
export async function readBacklog(db: Queries, now: string): Promise<Backlog> {
  const [[oldest], [counted]] = await Promise.all([
    db.byIndex<{ next_attempt_at: string; webhook_endpoint_id: string }[]>`
      with recursive waiting as (
        (select webhook_endpoint_id, next_attempt_at, 1 as visited from delivery where state = 'pending'
          order by webhook_endpoint_id, next_attempt_at limit 1)
        union all
        select next.webhook_endpoint_id, next.next_attempt_at, visited + 1
        from waiting cross join lateral (
          select delivery.webhook_endpoint_id, delivery.next_attempt_at from delivery
          where state = 'pending' and delivery.webhook_endpoint_id > waiting.webhook_endpoint_id
          order by delivery.webhook_endpoint_id, delivery.next_attempt_at limit 1) as next
        where visited < ${MAXIMUM_ENDPOINTS})
      select next_attempt_at, webhook_endpoint_id from waiting
      join webhook_endpoint as endpoint using (webhook_endpoint_id)
      join organization using (organization_id)
      where endpoint.status = 'active' and organization.status = 'active' and next_attempt_at < ${now}
      order by next_attempt_at limit 1`,
    db.byIndex<{ pending: number }[]>`
      select count(*)::integer as pending from (
        select from delivery where state = 'pending' limit ${MAXIMUM_COUNTED}) as counted`,
  ])
  return {
    oldest_due_at: oldest?.next_attempt_at ?? null,
    webhook_endpoint_id: oldest?.webhook_endpoint_id ?? null,
    pending: counted?.pending ?? 0,
  }
}

/** Deliveries that were given up since then, among the newest 10,000 in trouble. */
export async function countDead(db: Queries, since: string): Promise<number> {
  const [row] = await db.byIndex<{ dead: number }[]>`
    select (count(*) filter (where state = 'dead' and finished_at > ${since}))::integer as dead from (
      select state, finished_at from delivery where state in ('failed', 'dead')
      order by delivery_id desc limit ${MAXIMUM_COUNTED}) as newest`
  return row?.dead ?? 0
}

export interface DisabledEndpoint {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly status_reason: string | null
  readonly disabled_at: string | null
}

/** The latest first, at most 20. */
export async function listDisabledEndpoints(db: Queries): Promise<DisabledEndpoint[]> {
  return db.byIndex<DisabledEndpoint[]>`
    select webhook_endpoint_id, organization_id, status_reason, disabled_at from webhook_endpoint
    where status = 'disabled' order by disabled_at desc limit ${MAXIMUM_LISTED}`
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
