import { fragment, type Transaction } from '@agent-exchange/database'
import { ATTEMPTS, loosePartitions, partitionOf } from '../../features/retention/partitioned-tables.ts'

/** The owner of the table delivery_attempt. */

/** Part of the statement that records results: an attempt for each row of `moved`. */
export const insertAttempts = fragment`insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
      select delivery_id, attempt, started_at, outcome, details from moved`

/** Attempts in partitions that retention does not drop as a whole. */
export async function removeAttempts(tx: Transaction, deliveryIds: readonly string[]): Promise<void> {
  if (deliveryIds.length === 0) return
  for (const partition of await loosePartitions(tx, ATTEMPTS))
    await tx`delete from ${partitionOf('delivery_attempt', partition)} where delivery_id = any(${[...deliveryIds]})`
}
