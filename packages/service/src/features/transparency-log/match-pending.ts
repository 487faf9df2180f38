import { LEAF_LENGTH } from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'
import { takePendingAt } from '../../kernel/log-pending-store.ts'
import { insertBatches } from './batch-store.ts'

const ROWS_PER_PAGE = 1_000

interface PendingLeaf {
  readonly position: number
  readonly first: Uint8Array
}

/**
 * Batches that wait in the restored database may be among the entries that came back. They get the place that they
 * have there: a second leaf with the same label would look like a fork.
 */
export async function matchPending(
  tx: Transaction,
  entries: readonly Uint8Array[],
  start: number,
): Promise<number> {
  const places = new Map(entries.map((entry, offset) => [textOf(entry), start + offset]))
  // Batches that were taken back from the tree have positions below 1.
  let [after, matched] = [Number.MIN_SAFE_INTEGER, 0]
  for (;;) {
    const rows = await tx<PendingLeaf[]>`
      select position, substring(leaves from 1 for ${LEAF_LENGTH}::integer) as first from log_pending
      where position > ${after} order by position limit ${ROWS_PER_PAGE}`
    for (const { position, first } of rows) {
      const index = places.get(textOf(first))
      if (index === undefined) continue
      const batch = await takePendingAt(tx, position)
      if (!batch) continue
      const { batch_id, secret, leaves } = batch
      await insertBatches(tx, [
        { batch_id, secret, first_index: index, leaf_count: leaves.length / LEAF_LENGTH },
      ])
      matched++
    }
    const last = rows.at(-1)
    if (!last || rows.length < ROWS_PER_PAGE) return matched
    after = last.position
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
