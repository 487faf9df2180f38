import { LEAF_LENGTH } from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'

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
      await tx`
        with gone as (delete from log_pending where position = ${position} returning batch_id, secret, leaves)
        insert into log_batch (batch_id, secret, first_index, leaf_count)
        select batch_id, secret, ${index}, octet_length(leaves) / ${LEAF_LENGTH}::integer from gone`
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
