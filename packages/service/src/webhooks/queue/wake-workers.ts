import type { Transaction } from '@agent-exchange/database'
import { DELIVERY_CHANNEL, organizationCall } from './delivery-channel.ts'

/** Tells the delivery workers, at the commit, that an endpoint has something to be sent. */
export async function wakeWorkers(tx: Transaction, endpointId: string): Promise<void> {
  await tx`select pg_notify(${DELIVERY_CHANNEL}, ${endpointId})`
}

/** The same where an organization was suspended, so that nothing more leaves for it, or is active again. */
export async function announceStatus(
  tx: Transaction,
  organizationId: string,
  status: 'active' | 'suspended',
): Promise<void> {
  await tx`select pg_notify(${DELIVERY_CHANNEL}, ${organizationCall(organizationId, status)})`
}
