import {
  parseCheckpoint,
  parseNote,
  proveConsistency,
  rootFromTiles,
  verifyConsistency,
  type ReadTile,
} from '@agent-exchange/log'
import type { Queries } from '../../db/database.ts'
import { Problem } from '../../kernel/problem.ts'
import { latestPublished } from './checkpoint-store.ts'

/** A proof that the published tree continues the tree of an earlier size. */
export async function readConsistency(queries: Queries, from: number, readTile: ReadTile) {
  const checkpoint = await latestPublished(queries)
  if (!checkpoint) throw new Problem('resource_not_found')
  if (from > checkpoint.size) {
    const message = 'Use a size that is not larger than that of the published checkpoint.'
    throw new Problem('validation_failed', { failures: [{ pointer: '/from', rule: 'O-07', message }] })
  }
  const { size, root } = parseCheckpoint(parseNote(checkpoint.published).text)
  const proof = await proveConsistency(from, size, readTile)
  verifyConsistency({
    oldSize: from,
    oldRoot: await rootFromTiles(from, readTile),
    newSize: size,
    newRoot: root,
    proof,
  })
  return {
    from,
    checkpoint: checkpoint.published,
    proof: proof.map((hash) => Buffer.from(hash).toString('base64')),
  }
}
