import { LEAF_LENGTH } from '@agent-exchange/log'
import type { Queries } from '@agent-exchange/database'

/** How many leaves wait, and for how long the oldest has waited, by the clock of the database. */
export async function readWaiting(queries: Queries): Promise<{ leaves: number; seconds: number }> {
  const [row] = await queries<{ leaves: number; seconds: number | null }[]>`
    select coalesce(sum(octet_length(leaves)), 0)::bigint / ${LEAF_LENGTH}::integer as leaves,
      extract(epoch from now() - min(recorded_at))::integer as seconds
    from log_pending`
  return { leaves: row?.leaves ?? 0, seconds: row?.seconds ?? 0 }
}
