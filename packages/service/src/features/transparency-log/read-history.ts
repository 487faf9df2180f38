import type { LogHistory } from '@agent-exchange/protocol'
import type { ReadTile } from '@agent-exchange/log'
import type { Queries } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import { latestPublished } from './checkpoint-store.ts'
import { proveContinuation } from './read-consistency.ts'

/** Leaves of one request; each has at most two neighbouring checkpoints. */
export const MAXIMUM_INDEXES = 100

/**
 * The last published checkpoint before each leaf and the first one that covers it, with proofs that lead to the newest
 * checkpoint. Their cosignatures say between which times the leaf was added.
 */
export async function readHistory(
  queries: Queries,
  indexes: readonly number[],
  readTile: ReadTile,
): Promise<LogHistory> {
  const newest = await latestPublished(queries)
  if (!newest) throw new Problem('resource_not_found')
  const { origin, size, published } = newest
  const earlier = await queries<{ size: number; root: Uint8Array; published: string }[]>`
    select distinct near.size, near.root, near.published
    from unnest(${indexes.map(String)}::text[]::bigint[]) as leaf (index) cross join lateral (
      (select size, root, published from log_checkpoint
       where origin = ${origin} and published is not null and size <= leaf.index order by size desc limit 1)
      union all
      (select size, root, published from log_checkpoint
       where origin = ${origin} and published is not null and size > leaf.index order by size limit 1)) as near
    where near.size < ${size} order by near.size`
  const history = await Promise.all(
    earlier.map(async (each) => ({
      checkpoint: each.published,
      consistency: await proveContinuation(each.size, newest, readTile, each.root),
    })),
  )
  return { checkpoint: published, history }
}
