import { fragment, type Queries } from '@agent-exchange/database'
import { startOfIds } from '../../kernel/ids.ts'
import { CAN_BE_REPLAYED } from '../queue/replay-many.ts'

/** Deliveries of an endpoint that were created in one interval, by what became of them. */
export interface EndpointInterval {
  readonly from: string
  readonly delivered: number
  /** Of those, how many needed more than one attempt. */
  readonly retried: number
  readonly failed: number
  readonly dead: number
}

export interface EndpointHistory {
  readonly interval_seconds: number
  /** A count that has this value may be higher. */
  readonly maximum_count: number
  readonly intervals: readonly EndpointInterval[]
  readonly pending: number
  /** When the delivery that waits longest was created. */
  readonly oldest_pending_at: string | null
}

const INTERVALS = 24
/** Rows that are counted for each interval and group of states. */
const MAXIMUM_COUNTED_PER_INTERVAL = 1_000
const HOUR_SECONDS = 3_600

/** The last day by hours. Delivery ids begin with the time, so each hour is a range of the index of its endpoint. */
export async function readEndpointHistory(
  db: Queries,
  endpointId: string,
  now: string,
): Promise<EndpointHistory> {
  const bounds = boundsBefore(now)
  const starts = bounds.slice(0, -1).map((time) => startOfIds('dlv', time))
  const ends = bounds.slice(1).map((time) => startOfIds('dlv', time))
  const inInterval = fragment`webhook_endpoint_id = ${endpointId} and delivery_id >= from_id and delivery_id < until_id`
  const [rows, [waiting]] = await Promise.all([
    db.byIndex<Omit<EndpointInterval, 'from'>[]>`
      select delivered.count as delivered, delivered.retried, failed, dead
      from unnest(${starts}::text[], ${ends}::text[]) with ordinality as hour (from_id, until_id, number)
      cross join lateral (
        select count(*), count(*) filter (where attempt > 1) as retried from (
          select attempt from delivery where ${inInterval} and state = 'delivered'
          limit ${MAXIMUM_COUNTED_PER_INTERVAL}) as each) as delivered
      cross join lateral (
        select count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'dead') as dead from (
          select state from delivery where ${inInterval} and state in ('failed', 'dead')
          limit ${MAXIMUM_COUNTED_PER_INTERVAL}) as each) as trouble
      order by number`,
    db.byIndex<{ pending: number; oldest_pending_at: string | null }[]>`
      select count(*) as pending, min(created_at) as oldest_pending_at from (
        select created_at from delivery where webhook_endpoint_id = ${endpointId} and state = 'pending'
        limit ${MAXIMUM_COUNTED_PER_INTERVAL}) as each`,
  ])
  return {
    interval_seconds: HOUR_SECONDS,
    maximum_count: MAXIMUM_COUNTED_PER_INTERVAL,
    intervals: rows.map((row, index) => ({ from: bounds[index] ?? '', ...row })),
    pending: waiting?.pending ?? 0,
    oldest_pending_at: waiting?.oldest_pending_at ?? null,
  }
}

/** Full hours, the last of which ends after `now`. */
function boundsBefore(now: string): string[] {
  const hour = HOUR_SECONDS * 1_000
  const end = (Math.floor(Date.parse(now) / hour) + 1) * hour
  return Array.from({ length: INTERVALS + 1 }, (_, index) =>
    new Date(end - (INTERVALS - index) * hour).toISOString(),
  )
}

/** Failed deliveries of an endpoint, the newest first, of which one that can be replayed is looked for. */
const MAXIMUM_FAILED_READ = 100

/** The newest failed delivery to an endpoint whose event has not arrived since and is not under way. */
export async function lastFailedOf(db: Queries, endpointId: string): Promise<string | undefined> {
  const [row] = await db.byIndex<{ delivery_id: string }[]>`
    select delivery_id from (
      select delivery_id, webhook_endpoint_id, package_id, notification_id from delivery
      where webhook_endpoint_id = ${endpointId} and state in ('failed', 'dead')
      order by delivery_id desc limit ${MAXIMUM_FAILED_READ}) as failed
    where ${CAN_BE_REPLAYED} order by delivery_id desc limit 1`
  return row?.delivery_id
}
