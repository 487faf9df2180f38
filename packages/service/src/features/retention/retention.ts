import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Database, Transaction } from '../../db/database.ts'
import { DAY_SECONDS, secondsAfter } from '../../kernel/clock.ts'

/** Rows deleted by one statement: short locks, and room for others between the steps. */
const STEP_ROWS = 1_000
/** Steps of one run; what is left waits for the next. */
const MAXIMUM_STEPS = 100
const RETENTION_LOCK = 4_817_202_611

/** How many rows went, by what they were. */
export type Removed = Readonly<Record<string, number>>

/**
 * O-18: deletes what may go, in bounded steps. Audit, key and revocation events never go. One process at a time does
 * it; another that tries meanwhile does nothing.
 */
export async function removeExpired(db: Database, profile: DeploymentProfile, now: string): Promise<Removed> {
  const before = (days: number) => secondsAfter(now, -days * DAY_SECONDS)
  const kept = profile['O-18']
  const tasks: Record<string, (tx: Transaction) => Promise<number>> = {
    idempotency_records: (tx) => removeIdempotencyRecords(tx, before(kept.idempotency_days)),
    notifications: (tx) => removeNotifications(tx, before(kept.notification_days)),
    contents: (tx) => removeContents(tx, before(kept.content_days_after_expiry)),
    deliveries: (tx) => removeDeliveries(tx, before(kept.delivery_days)),
  }
  const removed: Record<string, number> = {}
  for (const [name, task] of Object.entries(tasks)) removed[name] = await inSteps(db, task)
  return removed
}

async function inSteps(db: Database, task: (tx: Transaction) => Promise<number>): Promise<number> {
  let total = 0
  for (let step = 0; step < MAXIMUM_STEPS; step++) {
    const removed = await db.begin(async (tx) => {
      const [lock] = await tx<
        { free: boolean }[]
      >`select pg_try_advisory_xact_lock(${RETENTION_LOCK}) as free`
      if (!lock?.free) return 0
      await tx`select set_config('aex.retention', 'on', true)`
      return task(tx)
    })
    total += removed
    if (removed < STEP_ROWS) break
  }
  return total
}

async function removeIdempotencyRecords(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`
    delete from idempotency_record where ctid in (
      select ctid from idempotency_record where recorded_at < ${before} limit ${STEP_ROWS} for update skip locked)`
  return count
}

/** From the old end of each stream, so that what is left has no hole; a cursor before it is told so. */
async function removeNotifications(tx: Transaction, before: string): Promise<number> {
  const rows = await tx<{ organization_id: string; sequence: number }[]>`
    delete from notification where (organization_id, sequence) in (
      select organization_id, sequence from notification where occurred_at < ${before}
      order by occurred_at, organization_id, sequence limit ${STEP_ROWS})
    returning organization_id, sequence`
  const ends = new Map<string, number>()
  for (const { organization_id, sequence } of rows) {
    ends.set(organization_id, Math.max(sequence, ends.get(organization_id) ?? 0))
  }
  await tx`
    update notification_stream set first_retained = greatest(first_retained, ended.sequence + 1)
    from unnest(${[...ends.keys()]}::text[], ${[...ends.values()].map(String)}::text[]::bigint[])
      as ended (organization_id, sequence)
    where notification_stream.organization_id = ended.organization_id`
  return rows.length
}

async function removeContents(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`
    delete from package_content where package_id in (
      select package_id from package join package_content using (package_id)
      where transport_mode = 'native' and expires_at < ${before} order by expires_at limit ${STEP_ROWS})`
  return count
}

/** A delivery that was replayed goes with its replay, never before it. */
async function removeDeliveries(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`
    delete from delivery where delivery_id in (
      select delivery_id from delivery as old where finished_at < ${before} and not exists (
        select from delivery where replay_of = old.delivery_id) limit ${STEP_ROWS})`
  return count
}
