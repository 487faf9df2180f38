import { fragment, type Queries } from '@agent-exchange/database'
import { startOfIds } from '../../kernel/ids.ts'
import type { DeliveryOfPackage } from './delivery-steps.ts'
import { EXCHANGE, factsOf, type Step, type StepOutcome } from './step.ts'

export interface NotificationOfPackage {
  readonly notification_id: string
  readonly event_id: string
  readonly event_type: string
  readonly organization_id: string
  readonly sequence: number
  readonly package_id: string
  readonly occurred_at: string
  readonly acknowledged_at: string | null
}

const COLUMNS = fragment`notification_id, event_id, event_type, organization_id, sequence, package_id, occurred_at`

/** Notifications of one millisecond that are read. The limit also keeps the planner from joining the whole table. */
const MAXIMUM_AT_ONCE = 1_000

interface Wanted {
  readonly packageIds: readonly string[]
  /** When something was recorded about these packages. */
  readonly times: readonly string[]
  /** Of their deliveries. */
  readonly notificationIds: readonly string[]
  readonly limit: number
}

/**
 * Notifications of packages. There is no index by package: an event has the time of the request that caused it, and
 * the ids of its notifications begin with that time.
 */
export async function notificationsOf(db: Queries, wanted: Wanted): Promise<NotificationOfPackage[]> {
  const { packageIds, times, notificationIds, limit } = wanted
  const starts = [...new Set(times)].map((time) => startOfIds('ntf', time))
  const ends = [...new Set(times)].map((time) => startOfIds('ntf', nextMillisecond(time)))
  return db.byIndex<NotificationOfPackage[]>`
    select found.*, acknowledged_at
    from (
      (select ${COLUMNS}
      from unnest(${starts}::text[], ${ends}::text[]) as moment (from_id, until_id)
      cross join lateral (
        select ${COLUMNS} from notification where notification_id >= from_id and notification_id < until_id
        order by notification_id limit ${MAXIMUM_AT_ONCE}) as at_once
      where package_id = any(${[...packageIds]}::text[]) limit ${limit})
      union
      (select ${COLUMNS} from notification where notification_id = any(${[...notificationIds]}::text[]) limit ${limit})
    ) as found
    left join notification_acknowledgement using (notification_id)
    order by notification_id limit ${limit}`
}

function nextMillisecond(time: string): string {
  return new Date(Date.parse(time) + 1).toISOString()
}

export function notificationStep(
  notification: NotificationOfPackage,
  deliveries: readonly DeliveryOfPackage[],
): Step {
  const { event_type, organization_id, occurred_at, package_id, acknowledged_at } = notification
  const [outcome, result] = resultOf(deliveries, acknowledged_at !== null)
  return {
    at: occurred_at,
    kind: 'notification',
    what: `Event ${event_type}: ${result}`,
    outcome,
    from: EXCHANGE,
    to: organization_id,
    package_id,
    facts: factsOf({
      notification_id: notification.notification_id,
      event_id: notification.event_id,
      sequence: notification.sequence,
      acknowledged_at,
      deliveries:
        deliveries.length === 0
          ? undefined
          : deliveries.map(({ delivery_id, state }) => ({ delivery_id, state })),
    }),
  }
}

function resultOf(deliveries: readonly DeliveryOfPackage[], isAcknowledged: boolean): [StepOutcome, string] {
  const hasState = (...states: string[]) => deliveries.some(({ state }) => states.includes(state))
  if (hasState('delivered')) return ['good', 'delivered by webhook']
  if (isAcknowledged) return ['good', 'acknowledged']
  if (hasState('pending')) return ['pending', 'webhook pending']
  if (hasState('failed', 'dead')) return ['bad', 'webhook failed']
  return ['neutral', 'in the stream, no webhook']
}
