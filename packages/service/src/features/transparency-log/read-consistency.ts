import type { LogConsistency } from '@agent-exchange/protocol'
import { proveConsistency, rootFromTiles, verifyConsistency, type ReadTile } from '@agent-exchange/log'
import type { Queries } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import { latestPublished, type PublishedCheckpoint } from './checkpoint-store.ts'
import { orDamage } from './damage.ts'

/** A proof that the published tree continues the tree of an earlier size. */
export async function readConsistency(
  queries: Queries,
  from: number,
  readTile: ReadTile,
): Promise<LogConsistency> {
  const checkpoint = await latestPublished(queries)
  if (!checkpoint) throw new Problem('resource_not_found')
  if (from > checkpoint.size) {
    const message = 'Use a size that is not larger than that of the published checkpoint.'
    throw new Problem('validation_failed', { failures: [{ pointer: '/from', rule: 'O-07', message }] })
  }
  return {
    from,
    checkpoint: checkpoint.published,
    proof: await proveContinuation(from, checkpoint, readTile),
  }
}

/** The consistency proof in base64, verified first. */
export function proveContinuation(
  from: number,
  { size, root }: Pick<PublishedCheckpoint, 'size' | 'root'>,
  readTile: ReadTile,
  knownRoot?: Uint8Array,
): Promise<string[]> {
  return orDamage({ from }, async () => {
    const oldRoot = knownRoot ?? (await rootFromTiles(from, readTile))
    const proof = await proveConsistency(from, size, readTile)
    verifyConsistency({ oldSize: from, oldRoot, newSize: size, newRoot: root, proof })
    return proof.map((hash) => Buffer.from(hash).toString('base64'))
  })
}
