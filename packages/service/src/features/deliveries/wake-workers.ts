import type { Transaction } from '../../db/database.ts'
import { DELIVERY_CHANNEL } from '../notifications/delivery-channel.ts'

/** Tells the delivery workers, at the commit, that an endpoint has something to be sent. */
export async function wakeWorkers(tx: Transaction, endpointId: string): Promise<void> {
  await tx`select pg_notify(${DELIVERY_CHANNEL}, ${endpointId})`
}
