import { fragment, type Fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { RECLAIM_BATCH_SIZE } from '../worker/webhook-limits.ts'

/** The owner of the table delivery_claim. */

/** Part of the statement that claims: one claim of the deliveries in `due`, if there are any. */
export const insertClaim = (
  worker: string,
): Fragment => fragment`insert into delivery_claim (worker, delivery_ids)
      select ${worker}, array_agg(delivery_id) from due having count(*) > 0
      returning claim_id`

/** Part of the statement that creates deliveries: a claim of those in `addressed` that are direct, already begun. */
export const insertDirectClaim = (
  worker: string,
  now: string,
): Fragment => fragment`insert into delivery_claim (worker, delivery_ids, begun_at)
      select ${worker}, array_agg(delivery_id), ${now}::timestamptz from addressed where is_direct having count(*) > 0
      returning claim_id`

/** Part of the statements that claim and that record: removes claims without unfinished deliveries. */
export const deleteClaims = (worker: string, claimIds: readonly number[]): Fragment =>
  fragment`delete from delivery_claim where worker = ${worker} and claim_id = any(${claimIds.map(String)}::text[]::bigint[])`

/** Marks the claim as started. False if the claim was reclaimed by another worker: then no request may be sent. */
export async function beginClaim(
  db: Queries,
  { worker, claimId, now }: { worker: string; claimId: number; now: string },
): Promise<boolean> {
  const { count } = await db`
    update delivery_claim set begun_at = ${now} where worker = ${worker} and claim_id = ${claimId}`
  return count > 0
}

/** The other workers that hold claims. */
export async function otherWorkers(db: Queries, worker: string): Promise<string[]> {
  const rows = await db<{ worker: string }[]>`
    select distinct worker from delivery_claim where worker <> ${worker} order by worker`
  return rows.map((row) => row.worker)
}

/** An unfinished delivery of a claim that was taken from its worker. */
export interface TakenDelivery {
  readonly delivery_id: string
  readonly claim_id: number
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly attempt: number
  readonly next_attempt_at: string
  /** Null: no request was sent, so there was no attempt. */
  readonly begun_at: string | null
}

export interface TakenClaims {
  /** At most RECLAIM_BATCH_SIZE; there may be more if it equals that limit. */
  readonly count: number
  readonly deliveries: readonly TakenDelivery[]
}

/**
 * Removes claims of a worker and returns their unfinished deliveries, locked until the end of the transaction. After
 * that the worker can neither start nor record them.
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
        order by claim_id limit ${RECLAIM_BATCH_SIZE} for update))
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

/** Removes claims without unfinished deliveries. */
export async function removeClaims(db: Queries, worker: string, claimIds: readonly number[]): Promise<void> {
  await db`${deleteClaims(worker, claimIds)}`
}
