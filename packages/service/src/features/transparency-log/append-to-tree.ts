import { appendLeaves, edgeRoot, LEAF_LENGTH, type TreeEdge } from '@agent-exchange/log'
import type { Database, Transaction } from '@agent-exchange/database'
import type { LogBatch } from '../../kernel/log-batch.ts'
import { takePending, type PendingBatch } from '../../kernel/log-pending-store.ts'
import { insertBatches } from './batch-store.ts'
import { moveHead } from './log-state-store.ts'
import { saveTiles } from './tile-store.ts'

/** Pending rows of one step; each row holds the leaves of one transaction. */
const ROWS_PER_STEP = 200

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
  await Promise.all([insertBatches(tx, rows), saveTiles(tx, appended.tiles)])
  return appended.edge
}

/** Appends the oldest pending rows. Returns the same edge if there are none. */
export async function appendPending(db: Database, edge: TreeEdge): Promise<TreeEdge> {
  const [waiting] = await db`select from log_pending limit 1`
  if (!waiting) return edge
  return db.begin(async (tx) => {
    // Without a flush: if the server loses it, the rows wait again. `confirmHead` flushes before a checkpoint.
    void tx`select set_config('synchronous_commit', 'off', true)`
    const rows = await takePending(tx, ROWS_PER_STEP)
    return rows.length === 0 ? edge : appendBatches(tx, edge, rows.map(toBatch))
  })
}

function toBatch({ batch_id, secret, leaves }: PendingBatch): LogBatch {
  const count = leaves.length / LEAF_LENGTH
  const each = Array.from({ length: count }, (_, index) =>
    leaves.subarray(index * LEAF_LENGTH, (index + 1) * LEAF_LENGTH),
  )
  return { batchId: batch_id, secret, leaves: each }
}
