import type { Transaction } from '@agent-exchange/database'

/** Deliveries to a deleted endpoint fail without another attempt; one that is under way may still say how it went. */
export async function endPendingOf(tx: Transaction, endpointId: string, now: string): Promise<number> {
  const { count } = await tx`
    update delivery set state = 'failed', finished_at = ${now}
    where webhook_endpoint_id = ${endpointId} and state = 'pending' and claim_id is null`
  return count
}

/**
 * The same for what nobody will ever send: the endpoint was deleted while it was on its way, or its notification is
 * no longer kept. In steps; returns how many.
 */
export async function endHopeless(
  tx: Transaction,
  { now, notificationsBefore, limit }: { now: string; notificationsBefore: string; limit: number },
): Promise<number> {
  const { count } = await tx`
    update delivery set state = 'failed', finished_at = ${now}
    where delivery_id in (
      select delivery_id from delivery join webhook_endpoint as endpoint using (webhook_endpoint_id)
      where state = 'pending' and claim_id is null
        and (endpoint.status = 'deleted' or delivery.created_at < ${notificationsBefore} and not exists (
          select from notification where notification.notification_id = delivery.notification_id offset 0))
      limit ${limit} for update of delivery skip locked)
      and finished_at is null and claim_id is null`
  return count
}
