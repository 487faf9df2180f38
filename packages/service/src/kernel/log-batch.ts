import { randomBytes } from 'node:crypto'
import { BATCH_SECRET_LENGTH, deriveSalt } from '@agent-exchange/log'
import { column, copyTarget, type Transaction } from '@agent-exchange/database'

const BATCH_ID_BYTES = 16

/** Leaves of one transaction. Each record stores the id of the batch and the offset of its leaf. */
export interface LogBatch {
  readonly batchId: Uint8Array
  readonly secret: Uint8Array
  readonly leaves: readonly Uint8Array[]
}

/** Makes a leaf of each item with a salt of its own. The id is random, so that no round trip is needed to get one. */
export function toLogBatch<Item>(
  items: readonly Item[],
  leafOf: (item: Item, salt: Uint8Array) => Uint8Array,
): LogBatch {
  const secret = randomBytes(BATCH_SECRET_LENGTH)
  const leaves = items.map((item, offset) => leafOf(item, deriveSalt(secret, offset)))
  return { batchId: randomBytes(BATCH_ID_BYTES), secret, leaves }
}

interface PendingRow {
  readonly batch_id: Uint8Array
  readonly secret: Uint8Array
  readonly leaves: Uint8Array
}

const PENDING = copyTarget<PendingRow>('log_pending', {
  batch_id: column.bytea,
  secret: column.bytea,
  leaves: column.bytea,
})

/**
 * Queues a batch for the sequencer. The caller holds the lock of the thread or agent, so that batches which depend on
 * each other get their positions in the order of their commits.
 */
export function queueLogBatch(tx: Transaction, { batchId, secret, leaves }: LogBatch): Promise<void> {
  const rows = leaves.length === 0 ? [] : [{ batch_id: batchId, secret, leaves: Buffer.concat(leaves) }]
  return tx.copy(PENDING, rows)
}
