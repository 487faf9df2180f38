import { appendLeaves, edgeRoot, LEAF_LENGTH, type TreeEdge } from '@agent-exchange/log'
import { column, copyTarget, type Database, type Transaction } from '@agent-exchange/database'
import type { LogBatch } from '../../kernel/log-batch.ts'
import { moveHead } from './log-state-store.ts'
import { saveTiles } from './tile-store.ts'

/** This file owns the table log_batch and takes rows from log_pending. */

/** Pending rows of one step; each row holds the leaves of one transaction. */
const ROWS_PER_STEP = 200

interface BatchRow {
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

/** Appends batches to the tree behind the edge, with their tiles and places, in the caller's transaction. */
export async function appendBatches(
  tx: Transaction,
  edge: TreeEdge,
  batches: readonly LogBatch[],
): Promise<TreeEdge> {
  const leaves = batches.flatMap((batch) => batch.leaves)
  const appended = appendLeaves(edge, leaves)
  await moveHead(
    tx,
    { size: edge.size, root: edgeRoot(edge) },
    { size: appended.edge.size, root: appended.root },
  )
  let index = edge.size
  const rows = batches.map(({ batchId, secret, leaves: own }) => {
    const row = { batch_id: batchId, secret, first_index: index, leaf_count: own.length }
    index += own.length
    return row
  })
  await Promise.all([tx.copy(BATCHES, rows), saveTiles(tx, appended.tiles)])
  return appended.edge
}

interface PendingRow {
  readonly position: number
  readonly batch_id: Uint8Array
  readonly secret: Uint8Array
  readonly leaves: Uint8Array
}

/** Appends the oldest pending rows. Returns the same edge if there are none. */
export async function appendPending(db: Database, edge: TreeEdge): Promise<TreeEdge> {
  const [waiting] = await db`select from log_pending limit 1`
  if (!waiting) return edge
  return db.begin(async (tx) => {
    const rows = await tx<PendingRow[]>`
      delete from log_pending
      where position in (select position from log_pending order by position limit ${ROWS_PER_STEP})
      returning position, batch_id, secret, leaves`
    if (rows.length === 0) return edge
    // Within one snapshot, rows that depend on each other are in the order of their positions.
    const ordered = rows.toSorted((left, right) => left.position - right.position)
    return appendBatches(tx, edge, ordered.map(toBatch))
  })
}

function toBatch({ batch_id, secret, leaves }: PendingRow): LogBatch {
  const count = leaves.length / LEAF_LENGTH
  const each = Array.from({ length: count }, (_, index) =>
    leaves.subarray(index * LEAF_LENGTH, (index + 1) * LEAF_LENGTH),
  )
  return { batchId: batch_id, secret, leaves: each }
}
