import { LEAF_LENGTH } from '@agent-exchange/log'
import { column, copyTarget, type Queries, type Transaction } from '@agent-exchange/database'
import type { LogBatch } from './log-batch.ts'

/** The owner of the table log_pending: batches that wait for the sequencer. */
export interface PendingBatch {
  readonly position: number
  readonly batch_id: Uint8Array
  readonly secret: Uint8Array
  readonly leaves: Uint8Array
}

const PENDING = copyTarget<Omit<PendingBatch, 'position'>>('log_pending', {
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

/** At most `limit`, the oldest. Within one snapshot, rows that depend on each other are in the order of their positions. */
export async function takePending(tx: Transaction, limit: number): Promise<PendingBatch[]> {
  const rows = await tx<PendingBatch[]>`
    delete from log_pending
    where position in (select position from log_pending order by position limit ${limit})
    returning position, batch_id, secret, leaves`
  return rows.toSorted((left, right) => left.position - right.position)
}

export async function takePendingAt(tx: Transaction, position: number): Promise<PendingBatch | undefined> {
  const [row] = await tx<PendingBatch[]>`
    delete from log_pending where position = ${position} returning position, batch_id, secret, leaves`
  return row
}

/** Batches that wait again, in their order, before all others. Their positions may be below 1. */
export async function returnToPending(
  tx: Transaction,
  batches: readonly Omit<PendingBatch, 'position'>[],
): Promise<void> {
  const [{ first } = { first: 1 }] = await tx<{ first: number }[]>`
    select coalesce(min(position), 1) as first from log_pending`
  for (const [at, { batch_id, secret, leaves }] of batches.entries())
    await tx`
      insert into log_pending (position, batch_id, secret, leaves) overriding system value
      values (${first - batches.length + at}, ${batch_id}, ${secret}, ${leaves})`
}

/** How many leaves wait, and for how long the oldest has waited, by the clock of the database. */
export async function readWaiting(queries: Queries): Promise<{ leaves: number; seconds: number }> {
  const [row] = await queries<{ leaves: number; seconds: number | null }[]>`
    select coalesce(sum(octet_length(leaves)), 0)::bigint / ${LEAF_LENGTH}::integer as leaves,
      extract(epoch from now() - min(recorded_at))::integer as seconds
    from log_pending`
  return { leaves: row?.leaves ?? 0, seconds: row?.seconds ?? 0 }
}
