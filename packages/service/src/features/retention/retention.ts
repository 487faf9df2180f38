import type { DeploymentProfile } from '@agent-exchange/protocol'
import { type Database, identifier, type Transaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '../../kernel/clock.ts'
import { startOfIds } from '../../kernel/ids.ts'
import { endHopeless } from '../../webhooks/queue/end-pending.ts'
import { removeOldSessions } from '../operators/operator-session-store.ts'
import { addUsage } from '../organizations/usage-store.ts'
import { removeActivity } from '../overview/activity-store.ts'
import { removeOldProcesses } from '../overview/process-store.ts'
import { dropRetired, type Credited } from './drop-retired.ts'
import { recordRun } from './last-run.ts'
import { ATTEMPTS, CONTENTS, loosePartitions } from './partitioned-tables.ts'
import { inOneStep, STEP_ROWS, type Step, type Task } from './retention-step.ts'
import { retirePartitions } from './retire-partitions.ts'
import { takeUnusedBodies } from './unused-policy-receipts.ts'

/** Steps of one run. Retention runs once an hour; the next run continues. */
const MAXIMUM_STEPS = 10_000
/** The overview shows 24 hours. */
const ACTIVITY_SECONDS = 25 * 3_600
const PROCESS_SECONDS = 3_600
const SESSION_DAYS = 1

/** Removed rows by kind, and dropped partitions. A kind is missing where another process was at work on it. */
export type Removed = Readonly<Record<string, number>>

type OnFailure = (kind: string, error: unknown) => undefined

const rethrow: OnFailure = (_kind, error) => {
  throw error
}

/**
 * O-18: removes expired data: whole partitions, and other rows in bounded steps. Audit, key and revocation events are
 * never removed. One process at a time does it; others do nothing meanwhile. An abort ends it after the current step.
 *
 * @param onFailure called for a kind whose removal failed; the others go on, and the run does not count as one
 */
export async function removeExpired(
  db: Database,
  profile: DeploymentProfile,
  now: string,
  signal?: AbortSignal,
  onFailure: OnFailure = rethrow,
): Promise<Removed> {
  const before = (days: number) => secondsAfter(now, -days * DAY_SECONDS)
  const kept = profile['O-18']
  if (signal?.aborted) return {}
  let isComplete = true
  const failed: OnFailure = (kind, error) => {
    isComplete = false
    return onFailure(kind, error)
  }
  const partitions =
    (await retirePartitions(db, profile, now, signal).catch((error: unknown) =>
      failed('partitions', error),
    )) ?? 0
  const tasks: Record<string, Task> = {
    idempotency_records: (tx) => removeIdempotencyRecords(tx, before(kept.idempotency_days)),
    notifications: (tx) => removeNotifications(tx, before(kept.notification_days)),
    contents: (tx) => removeContents(tx, before(kept.content_days_after_expiry)),
    deliveries: (tx) => removeDeliveries(tx, before(kept.delivery_days)),
    failed_deliveries: (tx) => removeFailedDeliveries(tx, before(kept.delivery_days)),
    alerts: (tx) => removeAlerts(tx, before(kept.delivery_days)),
    activity: (tx) => removeActivity(tx, secondsAfter(now, -ACTIVITY_SECONDS)),
    processes: (tx) => removeOldProcesses(tx, PROCESS_SECONDS),
    operator_sessions: (tx) => removeOldSessions(tx, before(SESSION_DAYS)),
    ...(kept.unused_policy_receipt_days > 0 && {
      unused_policy_receipts: (tx) => takeUnusedBodies(tx, before(kept.unused_policy_receipt_days)),
    }),
    // Not removed yet, but counted as what it is: they wait for nothing any more.
    hopeless_deliveries: (tx) =>
      endHopeless(tx, { now, notificationsBefore: before(kept.notification_days), limit: STEP_ROWS }),
  }
  const removed: Record<string, number> = partitions > 0 ? { partitions } : {}
  // In turns: much of one kind does not keep the others waiting.
  const left = new Map(Object.entries(tasks))
  for (let step = 0; step < MAXIMUM_STEPS && left.size > 0; step++) {
    for (const [name, task] of left) {
      if (signal?.aborted) return removed
      const done = await inOneStep(db, task).catch((error: unknown) => failed(name, error))
      if (done) removed[name] = (removed[name] ?? 0) + done.removed
      if (!done?.hasMore) left.delete(name)
    }
  }
  if (isComplete && Object.keys(removed).length > 0) await recordRun(db, now)
  return removed
}

async function removeIdempotencyRecords(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`
    delete from idempotency_record where ctid in (
      select ctid from idempotency_record where recorded_at < ${before} limit ${STEP_ROWS} for update skip locked)`
  return count
}

/** From the old end of each stream, so that what is left has no hole; a cursor before it is told so. */
async function removeNotifications(tx: Transaction, before: string): Promise<number> {
  // Times of neighbours may be out of order by a moment; sequences decide where a stream is cut.
  const cuts = await tx<{ organization_id: string; sequence: number }[]>`
    select organization_id, max(sequence) as sequence from (
      select organization_id, sequence from notification where notification_id < ${startOfIds('ntf', before)}
      order by notification_id limit ${STEP_ROWS}) as old
    group by organization_id order by organization_id`
  const organizations = cuts.map(({ organization_id }) => organization_id)
  const sequences = cuts.map(({ sequence }) => String(sequence))
  await tx`
    update notification_stream set first_retained = greatest(first_retained, cut.sequence + 1)
    from unnest(${organizations}::text[], ${sequences}::text[]::bigint[]) as cut (organization_id, sequence)
    where notification_stream.organization_id = cut.organization_id`
  const { count } = await tx`
    delete from notification using unnest(${organizations}::text[], ${sequences}::text[]::bigint[])
      as cut (organization_id, sequence)
    where notification.organization_id = cut.organization_id and notification.sequence <= cut.sequence`
  return count
}

/** Contents of detached partitions, and those that expired in partitions that retention does not drop as a whole. */
async function removeContents(tx: Transaction, before: string): Promise<Step> {
  const steps: (Step & Credited)[] = []
  for (const partition of await loosePartitions(tx, CONTENTS))
    steps.push(await removeContentRows(tx, partition, before))
  steps.push(await dropRetired(tx))
  // Once for all of them: rows that are locked in two statements are not locked in one order.
  await addUsage(
    tx,
    steps.flatMap(({ usage }) => usage),
  )
  return {
    removed: steps.reduce((sum, { removed }) => sum + removed, 0),
    hasMore: steps.some(({ hasMore }) => hasMore),
  }
}

/** Each with all of its parts; the first one counts. The senders get their bytes back (O-13). */
async function removeContentRows(
  tx: Transaction,
  partition: string,
  before: string,
): Promise<Step & Credited> {
  const removed = await tx<{ sender_org_id: string; contents: number; bytes: number }[]>`
    with gone as (
      delete from ${identifier(partition)} where (expires_at, package_id) in (
        select expires_at, package_id from ${identifier(partition)} where expires_at < ${before} and part = 0
        order by expires_at, package_id limit ${STEP_ROWS})
      returning package_id, part, octet_length(before) + octet_length(payload) + octet_length(after) as bytes)
    select sender_org_id, count(*) filter (where part = 0) as contents, sum(bytes)::bigint as bytes
    from gone join package using (package_id) group by sender_org_id`
  const contents = removed.reduce((sum, row) => sum + row.contents, 0)
  return {
    removed: contents,
    hasMore: contents >= STEP_ROWS,
    usage: removed.map(({ sender_org_id, bytes }) => ({
      organizationId: sender_org_id,
      storedBytes: -bytes,
    })),
  }
}

/**
 * A delivery that was replayed is removed after its replay. No delivery is finished before the time in its id. Each
 * endpoint has its own range of the index.
 */
async function removeDeliveries(tx: Transaction, before: string): Promise<number> {
  await leaveAttemptsToPartitions(tx)
  const gone = await tx<{ delivery_id: string }[]>`
    delete from delivery where delivery_id = any(array(
      select old.delivery_id from webhook_endpoint as endpoint cross join lateral (
        select delivery_id from delivery as old
        where old.webhook_endpoint_id = endpoint.webhook_endpoint_id and state = 'delivered'
          and delivery_id < ${startOfIds('dlv', before)} and finished_at < ${before} and not exists (
            select from delivery where replay_of = old.delivery_id)
        limit ${STEP_ROWS} for update skip locked) as old
      limit ${STEP_ROWS}))
    returning delivery_id`
  return removeAttempts(tx, gone)
}

async function removeFailedDeliveries(tx: Transaction, before: string): Promise<number> {
  await leaveAttemptsToPartitions(tx)
  const gone = await tx<{ delivery_id: string }[]>`
    delete from delivery where delivery_id in (
      select delivery_id from delivery as old
      where state in ('failed', 'dead') and delivery_id < ${startOfIds('dlv', before)} and finished_at < ${before}
        and not exists (select from delivery where replay_of = old.delivery_id)
      order by delivery_id limit ${STEP_ROWS} for update skip locked)
    returning delivery_id`
  return removeAttempts(tx, gone)
}

/** Every other delete of a delivery deletes its attempts by a trigger. */
async function leaveAttemptsToPartitions(tx: Transaction): Promise<void> {
  await tx`select set_config('aex.attempts_leave_by_partition', 'on', true)`
}

/** Attempts in partitions that retention does not drop as a whole. @returns the number of deliveries */
async function removeAttempts(
  tx: Transaction,
  deliveries: readonly { readonly delivery_id: string }[],
): Promise<number> {
  const ids = deliveries.map(({ delivery_id }) => delivery_id)
  if (ids.length === 0) return 0
  for (const partition of await loosePartitions(tx, ATTEMPTS))
    await tx`delete from ${identifier(partition)} where delivery_id = any(${ids})`
  return ids.length
}

async function removeAlerts(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`
    delete from alert where alert_id in (
      select alert_id from alert where raised_at < ${before} order by raised_at limit ${STEP_ROWS}
      for update skip locked)`
  return count
}
