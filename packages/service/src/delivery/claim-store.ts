import type { Queries, Transaction } from '../db/database.ts'
import { TAKEN_CLAIMS } from './limits.ts'

/** Workers that have claimed something, this one left out. */
export async function otherWorkers(db: Queries, worker: string): Promise<string[]> {
  const rows = await db<{ worker: string }[]>`
    select distinct worker from delivery_claim where worker <> ${worker} order by worker`
  return rows.map((row) => row.worker)
}

/** A delivery of a claim that is taken from its worker. */
export interface TakenDelivery {
  readonly delivery_id: string
  readonly claim_id: number
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly attempt: number
  readonly next_attempt_at: string
  /** Null: no request has left, and there was no attempt. */
  readonly begun_at: string | null
}

export interface TakenClaims {
  /** At most TAKEN_CLAIMS; then there may be more. */
  readonly count: number
  readonly deliveries: readonly TakenDelivery[]
}

/**
 * Removes claims of a worker and returns what of them is still under way, held for the caller's transaction. The worker
 * can begin nothing of it any more, and record no result.
 */
export async function takeClaims(
  tx: Transaction,
  worker: string,
  { except }: { except: readonly number[] },
): Promise<TakenClaims> {
  const rows = await tx.byIndex<
    ({ count: number } & { [Name in keyof TakenDelivery]: TakenDelivery[Name] | null })[]
  >`
    with taken as (
      delete from delivery_claim where worker = ${worker} and claim_id = any(array(
        select claim_id from delivery_claim
        where worker = ${worker} and claim_id <> all(${except.map(String)}::text[]::bigint[])
        order by claim_id limit ${TAKEN_CLAIMS} for update))
      returning claim_id, begun_at, delivery_ids)
    select (select count(*) from taken) as count, held.*
    from (values (true)) as once left join (
      select delivery_id, taken.claim_id, webhook_endpoint_id, organization_id, attempt, next_attempt_at, begun_at
      from taken cross join lateral (
        select * from delivery
        where delivery_id = any(taken.delivery_ids) and delivery.claim_id = taken.claim_id and finished_at is null
        order by delivery_id for update) as own) as held on true`
  const deliveries = rows.filter((row): row is { count: number } & TakenDelivery => row.delivery_id !== null)
  return { count: rows[0]?.count ?? 0, deliveries }
}

/** Claims of which nothing is under way. */
export async function removeClaims(db: Queries, worker: string, claimIds: readonly number[]): Promise<void> {
  await db`
    delete from delivery_claim
    where worker = ${worker} and claim_id = any(${claimIds.map(String)}::text[]::bigint[])`
}
