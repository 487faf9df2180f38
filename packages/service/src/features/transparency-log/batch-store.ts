import { column, copyTarget, type Queries, type Transaction } from '@agent-exchange/database'

/** The owner of the table log_batch: where in the tree the leaves of a transaction are. */
export interface BatchRow {
  readonly batch_id: Uint8Array
  readonly secret: Uint8Array
  readonly first_index: number
  readonly leaf_count: number
}

const BATCHES = copyTarget<BatchRow>('log_batch', {
  batch_id: column.bytea,
  secret: column.bytea,
  first_index: column.bigint,
  leaf_count: column.integer,
})

export function insertBatches(tx: Transaction, rows: readonly BatchRow[]): Promise<void> {
  return tx.copy(BATCHES, rows)
}

/** Those that begin at that index or later, in order. */
export async function batchesFrom(db: Queries, index: number): Promise<BatchRow[]> {
  return db<BatchRow[]>`
    select batch_id, secret, first_index, leaf_count from log_batch
    where first_index >= ${index} order by first_index`
}

export async function removeBatchesFrom(tx: Transaction, index: number): Promise<void> {
  await tx`delete from log_batch where first_index >= ${index}`
}
