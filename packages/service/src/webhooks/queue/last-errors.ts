import type { Queries } from '@agent-exchange/database'
import type { DeliveryRow } from './delivery-queries.ts'

/** A delivery with the result of its last attempt, where that failed: `status 404`, or the class of the error. */
export interface ListedDelivery extends DeliveryRow {
  readonly last_error?: string
}

/** One lookup by primary key for each delivery that has failed attempts. */
export async function withLastErrors(
  db: Queries,
  deliveries: readonly DeliveryRow[],
): Promise<ListedDelivery[]> {
  const tried = deliveries.filter(({ state, attempt }) => state !== 'delivered' && attempt > 0)
  if (tried.length === 0) return [...deliveries]
  const rows = await db.byIndex<{ delivery_id: string; error: string }[]>`
    select wanted.delivery_id, coalesce('status ' || (details::json ->> 'status'), details::json ->> 'error_class',
      details::json ->> 'error', outcome) as error
    from unnest(${tried.map(({ delivery_id }) => delivery_id)}::text[]) as wanted (delivery_id)
    cross join lateral (
      select outcome, details from delivery_attempt where delivery_attempt.delivery_id = wanted.delivery_id
      order by attempt desc limit 1) as last
    where outcome <> 'delivered'`
  const errors = new Map(rows.map(({ delivery_id, error }) => [delivery_id, error]))
  return deliveries.map((delivery) => {
    const last_error = errors.get(delivery.delivery_id)
    return { ...delivery, ...(last_error !== undefined && { last_error }) }
  })
}
