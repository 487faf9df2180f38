import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Database, Transaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { removeOldRecords } from '../../kernel/idempotency-records.ts'
import {
  endHopeless,
  removeOldDeliveries,
  removeOldFailedDeliveries,
} from '../../webhooks/queue/delivery-store.ts'
import { removeOldAlerts } from '../alerts/alert-store.ts'
import { removeOldNotifications } from '../notifications/notification-store.ts'
import { removeOldSessions } from '../operators/operator-session-store.ts'
import { addUsage } from '../organizations/usage-store.ts'
import { removeActivity } from '../overview/activity-store.ts'
import { removeOldProcesses } from '../overview/process-store.ts'
import { removeOldContents, type RemovedContents } from '../packages/content-store.ts'
import { dropRetired, type Credited } from './drop-retired.ts'
import { recordRun } from './progress-store.ts'
import { CONTENTS, loosePartitions } from './partitioned-tables.ts'
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
    idempotency_records: (tx) => removeOldRecords(tx, before(kept.idempotency_days), STEP_ROWS),
    notifications: (tx) => removeOldNotifications(tx, before(kept.notification_days), STEP_ROWS),
    contents: (tx) => removeContents(tx, before(kept.content_days_after_expiry)),
    deliveries: (tx) => removeOldDeliveries(tx, before(kept.delivery_days), STEP_ROWS),
    failed_deliveries: (tx) => removeOldFailedDeliveries(tx, before(kept.delivery_days), STEP_ROWS),
    alerts: (tx) => removeOldAlerts(tx, before(kept.delivery_days), STEP_ROWS),
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

/** Contents of detached partitions, and those that expired in partitions that retention does not drop as a whole. */
async function removeContents(tx: Transaction, before: string): Promise<Step> {
  const steps: (Step & Credited)[] = []
  for (const partition of await loosePartitions(tx, CONTENTS))
    steps.push(toStep(await removeOldContents(tx, partition, before, STEP_ROWS)))
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

/** The senders get their bytes back (O-13). */
function toStep(removed: readonly RemovedContents[]): Step & Credited {
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
