import type { Queries } from '@agent-exchange/database'
import type { DeliveryRow } from './delivery-queries.ts'

/** What a delivery is about, and where it goes. */
export interface DeliveryContext {
  /** Undefined if the notification is no longer kept (O-18). */
  readonly event_type?: string
  readonly endpoint_url?: string
}

/** One lookup by primary key for each delivery in the notifications, and in the endpoints. */
export async function withContext<Row extends DeliveryRow>(
  db: Queries,
  deliveries: readonly Row[],
): Promise<(Row & DeliveryContext)[]> {
  if (deliveries.length === 0) return []
  const ids = (name: 'notification_id' | 'webhook_endpoint_id') => [
    ...new Set(deliveries.map((delivery) => delivery[name])),
  ]
  const [notifications, endpoints] = await Promise.all([
    db.byIndex<{ notification_id: string; event_type: string }[]>`
      select notification_id, event_type from notification
      where notification_id = any(${ids('notification_id')}::text[])`,
    db.byIndex<{ webhook_endpoint_id: string; url: string }[]>`
      select webhook_endpoint_id, url from webhook_endpoint
      where webhook_endpoint_id = any(${ids('webhook_endpoint_id')}::text[])`,
  ])
  const types = new Map(notifications.map((row) => [row.notification_id, row.event_type]))
  const urls = new Map(endpoints.map((row) => [row.webhook_endpoint_id, row.url]))
  return deliveries.map((delivery) => {
    const event_type = types.get(delivery.notification_id)
    const endpoint_url = urls.get(delivery.webhook_endpoint_id)
    return {
      ...delivery,
      ...(event_type !== undefined && { event_type }),
      ...(endpoint_url !== undefined && { endpoint_url }),
    }
  })
}
