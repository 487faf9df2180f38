import type { Queries } from '@agent-exchange/database'
import { recordsOfPackages } from '../audit/package-records.ts'
import type { PackageFacts } from '../packages/package-facts.ts'
import { latestPublished } from '../transparency-log/checkpoint-store.ts'
import { alertSteps, attemptSteps, deliveriesOf } from './delivery-steps.ts'
import { evidenceSteps, keysOf, timeOfEntry } from './evidence-steps.ts'
import { keySteps } from './key-steps.ts'
import { notificationsOf, notificationStep } from './notification-steps.ts'
import type { Step } from './step.ts'

/** Limits of one timeline. What they leave out can be read by id. */
const MAXIMUM_RECORDS_PER_PACKAGE = 100
const MAXIMUM_DELIVERIES_PER_PACKAGE = 50
const MAXIMUM_NOTIFICATIONS = 1_000
const MAXIMUM_STEPS = 500

export interface StepList {
  /** In order of time. */
  readonly steps: readonly Step[]
  /** False if a limit left something out. */
  readonly is_complete: boolean
}

/** All that happened to these packages, of all parties. For operators. */
export async function readTimeline(db: Queries, packages: readonly PackageFacts[]): Promise<StepList> {
  if (packages.length === 0) return { steps: [], is_complete: true }
  const byId = new Map(packages.map((row) => [row.package_id, row]))
  const packageIds = [...byId.keys()]
  const [checkpoint, records, deliveries] = await Promise.all([
    latestPublished(db),
    recordsOfPackages(db, packageIds, MAXIMUM_RECORDS_PER_PACKAGE),
    deliveriesOf(db, packageIds, MAXIMUM_DELIVERIES_PER_PACKAGE),
  ])
  const times = [
    ...packages.flatMap(({ accepted_at, updated_at }) => [accepted_at, updated_at]),
    ...records.flatMap(({ entries }) => entries.map(timeOfEntry)),
  ]
  const begin = packages.map(({ accepted_at }) => accepted_at).reduce((a, b) => (a < b ? a : b))
  const [notifications, attempts, alerts, keyChanges] = await Promise.all([
    notificationsOf(db, {
      packageIds,
      times,
      notificationIds: [...new Set(deliveries.map(({ notification_id }) => notification_id))],
      limit: MAXIMUM_NOTIFICATIONS,
    }),
    attemptSteps(db, deliveries),
    alertSteps(db, deliveries),
    keySteps(
      db,
      records.flatMap((record) => keysOf(record, byId)),
      begin,
    ),
  ])
  const sentFor = Map.groupBy(deliveries, ({ notification_id }) => notification_id)
  const all = [
    ...records.flatMap((record) => evidenceSteps(record, byId, checkpoint?.size ?? 0)),
    ...notifications.map((each) => notificationStep(each, sentFor.get(each.notification_id) ?? [])),
    ...attempts,
    ...alerts,
    ...keyChanges,
  ]
  // A stable sort: what has the same time keeps the order above, cause before consequence.
  const steps = all.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const isLimited =
    hasReached(records, ({ packageId }) => packageId, MAXIMUM_RECORDS_PER_PACKAGE) ||
    hasReached(deliveries, ({ package_id }) => package_id, MAXIMUM_DELIVERIES_PER_PACKAGE) ||
    notifications.length === MAXIMUM_NOTIFICATIONS ||
    steps.length > MAXIMUM_STEPS
  return { steps: steps.slice(0, MAXIMUM_STEPS), is_complete: !isLimited }
}

function hasReached<Row>(rows: readonly Row[], packageOf: (row: Row) => string, limit: number): boolean {
  return [...Map.groupBy(rows, packageOf).values()].some(({ length }) => length >= limit)
}
