import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Transaction } from '../../db/database.ts'
import type { NewId } from '../../kernel/ids.ts'

/** The wake-up call for delivery workers, with the endpoints that have something; they also look by themselves. */
export const DELIVERY_CHANNEL = 'aex_delivery'
/** A payload of PostgreSQL has less than 8,000 bytes. An empty one says: look everywhere. */
const MAXIMUM_NAMED_ENDPOINTS = 150

/** An active endpoint, and what it wants to hear of. */
export interface Subscription {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly event_types: readonly string[]
}

export async function activeSubscriptions(
  tx: Transaction,
  organizations: readonly string[],
): Promise<Subscription[]> {
  return tx<Subscription[]>`
    select webhook_endpoint_id, organization_id, event_types from webhook_endpoint
    where organization_id = any(${[...organizations]}) and status = 'active' order by created_at`.execute()
}

/** A delivery for each active endpoint that wants the event; an endpoint without a filter wants all. */
export async function insertDeliveries(
  tx: Transaction,
  notifications: readonly NotificationEnvelope[],
  subscriptions: readonly Subscription[],
  newId: NewId,
): Promise<void> {
  if (subscriptions.length === 0) return
  const rows = notifications.flatMap((notification) =>
    subscriptions
      .filter((subscription) => wants(subscription, notification))
      .map(({ webhook_endpoint_id }) => ({
        delivery_id: newId('dlv'),
        webhook_endpoint_id,
        organization_id: notification.organization_id,
        notification_id: notification.notification_id,
        event_id: notification.event_id,
        created_at: notification.occurred_at,
      })),
  )
  if (rows.length === 0) return
  const column = columnsOf(rows)
  const inserted = tx`
    insert into delivery
      (delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, state, next_attempt_at, created_at)
    select delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, 'pending',
      created_at::timestamptz, created_at::timestamptz
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('delivery_id')}, mark), string_to_array(${column('webhook_endpoint_id')}, mark),
      string_to_array(${column('organization_id')}, mark), string_to_array(${column('notification_id')}, mark),
      string_to_array(${column('event_id')}, mark), string_to_array(${column('created_at')}, mark)) as row (
      delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, created_at)`.execute()
  const endpoints = [...new Set(rows.map(({ webhook_endpoint_id }) => webhook_endpoint_id))]
  const named = endpoints.length > MAXIMUM_NAMED_ENDPOINTS ? '' : endpoints.join(' ')
  await Promise.all([inserted, tx`select pg_notify(${DELIVERY_CHANNEL}, ${named})`.execute()])
}

function wants({ organization_id, event_types }: Subscription, notification: NotificationEnvelope): boolean {
  if (organization_id !== notification.organization_id) return false
  return event_types.length === 0 || event_types.includes(notification.event_type)
}
