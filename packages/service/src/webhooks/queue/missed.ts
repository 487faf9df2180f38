import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { findEndpoint, type EndpointRow } from '../endpoints/endpoint-queries.ts'
import { forgetMissed } from '../endpoints/endpoint-store.ts'
import { holdThreads } from './replay-evidence.ts'
import { insertReplays, type Replayable, type ReplayOrder, type Replayed } from './replay-insert.ts'
import { CAN_BE_REPLAYED, MAXIMUM_COUNTED, MAXIMUM_REPLAYS } from './replay-many.ts'
import { requireActiveEndpoint } from './replay.ts'

/** What an endpoint missed while it was disabled. */
export interface Missed {
  /** Notifications that never had a delivery to it. */
  readonly notifications: number
  /** Deliveries to it that failed in that time. */
  readonly deliveries: number
}

/** Notifications of the time it was disabled that it would have got. */
const undelivered = (endpoint: EndpointRow, limit: number) => fragment`
  select notification_id, event_id, package_id, ${endpoint.organization_id}::text as organization_id,
    ${endpoint.webhook_endpoint_id}::text as webhook_endpoint_id, null::text as replay_of
  from notification
  where organization_id = ${endpoint.organization_id} and sequence > ${endpoint.missed_after}
    ${endpoint.missed_until === null ? fragment`` : fragment`and sequence <= ${endpoint.missed_until}`}
    ${endpoint.event_types.length === 0 ? fragment`` : fragment`and event_type = any(${endpoint.event_types})`}
    and not exists (
      select from delivery where delivery.package_id = notification.package_id
        and delivery.notification_id = notification.notification_id
        and delivery.webhook_endpoint_id = ${endpoint.webhook_endpoint_id})
  order by sequence limit ${limit}`

/** Deliveries to it that failed in that time, where replaying them makes sense. */
const failed = (endpoint: EndpointRow, limit: number) => fragment`
  select notification_id, event_id, package_id, organization_id, webhook_endpoint_id, delivery_id as replay_of
  from delivery as failed
  where webhook_endpoint_id = ${endpoint.webhook_endpoint_id} and state in ('failed', 'dead')
    and finished_at >= ${endpoint.disabled_at}
    ${endpoint.enabled_at === null ? fragment`` : fragment`and finished_at <= ${endpoint.enabled_at}`}
    and ${CAN_BE_REPLAYED}
  order by delivery_id limit ${limit}`

/** At most MAXIMUM_COUNTED of each kind are counted. */
export async function countMissed(db: Queries, endpoint: EndpointRow): Promise<Missed> {
  if (endpoint.missed_after === null || endpoint.status === 'deleted')
    return { notifications: 0, deliveries: 0 }
  const [row] = await db.byIndex<Missed[]>`
    select (select count(*) from (${undelivered(endpoint, MAXIMUM_COUNTED)}) as each) as notifications,
      (select count(*) from (${failed(endpoint, MAXIMUM_COUNTED)}) as each) as deliveries`
  return row ?? { notifications: 0, deliveries: 0 }
}

/** Replays of what an endpoint missed, at most MAXIMUM_REPLAYS; asking again goes on, and the last one settles it. */
export async function replayMissed(
  tx: Transaction,
  endpointId: string,
  order: ReplayOrder,
): Promise<Replayed[]> {
  const seen = await findEndpoint(tx, endpointId)
  const threads = await holdThreads(tx, seen ? await allMissed(tx, seen) : [])
  const endpoint = await requireActiveEndpoint(tx, endpointId)
  const missed = await allMissed(tx, endpoint)
  // Read again under the endpoint's lock; what came in between belongs to the next call.
  const wanted = missed.filter(({ package_id }) => threads.has(package_id))
  if (missed.length < MAXIMUM_REPLAYS && wanted.length === missed.length) await forgetMissed(tx, endpointId)
  return insertReplays(tx, wanted, threads, order)
}

async function allMissed(tx: Transaction, endpoint: EndpointRow): Promise<Replayable[]> {
  if (endpoint.missed_after === null) return []
  const older = await tx.byIndex<Replayable[]>`${failed(endpoint, MAXIMUM_REPLAYS)}`
  const room = MAXIMUM_REPLAYS - older.length
  const never = room === 0 ? [] : await tx.byIndex<Replayable[]>`${undelivered(endpoint, room)}`
  return [...older, ...never]
}
