import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { matching, type DeliveryFilter } from './delivery-queries.ts'
import type { EndpointStatus } from '../endpoints/endpoint-queries.ts'
import { holdThreads } from './replay-evidence.ts'
import { insertReplays, type Replayable, type ReplayOrder, type Replayed } from './replay-insert.ts'
import { requireActiveEndpoint } from './replay.ts'

/** Replays of one transaction; who wants more asks again. */
export const MAXIMUM_REPLAYS = 500
/** No count looks further. */
export const MAXIMUM_COUNTED = 100_000

export interface ReplayFilter extends Omit<DeliveryFilter, 'state'> {
  /** Both, where it is not said. */
  readonly state?: 'failed' | 'dead' | undefined
}

/** How many a filter means, by endpoint. */
export interface ReplayCount {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly status: EndpointStatus
  readonly count: number
}

/**
 * Of `delivery as failed`: its notification is still there, and is neither on its way to the same endpoint nor has
 * reached it. Of several that failed one after the other only the last counts.
 */
export const CAN_BE_REPLAYED = fragment`
  exists (select from notification where notification.notification_id = failed.notification_id)
  and not exists (
    select from delivery as other
    where other.package_id = failed.package_id and other.notification_id = failed.notification_id
      and other.webhook_endpoint_id = failed.webhook_endpoint_id
      and other.delivery_id <> failed.delivery_id
      and (other.state in ('pending', 'delivered') or other.delivery_id > failed.delivery_id))`

const replayable = (filter: ReplayFilter, limit: number) => fragment`
  select delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id
  from delivery as failed
  where state in ('failed', 'dead') ${filter.state === undefined ? fragment`` : fragment`and state = ${filter.state}`}
    ${matching(filter)}
    and ${CAN_BE_REPLAYED}
  order by delivery_id limit ${limit}`

/** What a replay by this filter would do; at most MAXIMUM_COUNTED are counted. */
export async function countReplays(db: Queries, filter: ReplayFilter): Promise<ReplayCount[]> {
  return db.byIndex<ReplayCount[]>`
    select webhook_endpoint_id, found.organization_id, status, count(*) as count
    from (${replayable(filter, MAXIMUM_COUNTED)}) as found join webhook_endpoint using (webhook_endpoint_id)
    group by webhook_endpoint_id, found.organization_id, status order by webhook_endpoint_id`
}

/**
 * Replays of one endpoint, the oldest first, at most MAXIMUM_REPLAYS. Asking again goes on where this ended, since
 * what was replayed no longer counts; so it does after a crash, and when two operators ask at once.
 */
export async function replayMany(
  tx: Transaction,
  filter: ReplayFilter & { readonly endpointId: string },
  order: ReplayOrder,
): Promise<Replayed[]> {
  const read = () => tx.byIndex<(Omit<Replayable, 'replay_of'> & { delivery_id: string })[]>`
    ${replayable(filter, MAXIMUM_REPLAYS)}`
  // Read again under the endpoint's lock; what came in between belongs to the next call.
  const threads = await holdThreads(tx, await read())
  await requireActiveEndpoint(tx, filter.endpointId)
  const rows = (await read()).filter(({ package_id }) => threads.has(package_id))
  return insertReplays(
    tx,
    rows.map(({ delivery_id, ...row }) => ({ ...row, replay_of: delivery_id })),
    threads,
    order,
  )
}
