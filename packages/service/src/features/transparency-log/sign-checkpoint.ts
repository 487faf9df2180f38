import {
  edgeRoot,
  formatCheckpoint,
  signNote,
  withSignatures,
  type PolicyWitness,
  type TreeEdge,
} from '@agent-exchange/log'
import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import type { CheckpointFile } from './checkpoint-file.ts'
import { insertCheckpoint, latestSigned, publishCheckpoint } from './checkpoint-store.ts'
import { collectCosignatures } from './collect-cosignatures.ts'
import type { LogKeys } from './log-key.ts'
import type { LogMetrics } from './log-metrics.ts'
import { confirmHead, type Refusal } from './log-state-store.ts'
import { tileReader } from './tile-store.ts'

export interface SigningTools {
  readonly db: Database
  readonly clock: Clock
  readonly file: CheckpointFile
  readonly keys: LogKeys
  readonly witnesses: readonly PolicyWitness[]
  readonly metrics: Omit<LogMetrics, 'onStatus'>
}

/**
 * Signs and publishes the tree behind the edge. The order matters: the tiles are flushed, then the file outside the
 * database is synced, then the signature is made and stored, then witnesses cosign it, then everybody sees it.
 */
export async function signCheckpoint(tools: SigningTools, edge: TreeEdge): Promise<Refusal | undefined> {
  const { db, clock, file } = tools
  const signers = await tools.keys.signers()
  const [{ key: logKey }] = signers
  const checkpoint = { origin: logKey.name, size: edge.size, root: edgeRoot(edge) }
  const before = await latestSigned(db, checkpoint.origin)
  let note = before?.size === checkpoint.size ? before.note : undefined
  if (before && note !== undefined && Buffer.compare(before.root, checkpoint.root) !== 0)
    return { reason: 'tiles_damaged', own_size: checkpoint.size }
  if (note === undefined) {
    await confirmHead(db, checkpoint)
    await file.write(checkpoint)
    note = await signNote(formatCheckpoint(checkpoint), signers)
    await insertCheckpoint(db, checkpoint, { note, now: clock.now() })
  }
  const { lines, refusal } = await collectCosignatures(db, {
    witnesses: tools.witnesses,
    size: checkpoint.size,
    note,
    logKey,
    readTile: tileReader(db),
    now: clock.now(),
    onAnswer: tools.metrics.onWitness,
  })
  if (refusal) return refusal
  const now = clock.now()
  await publishCheckpoint(db, checkpoint, { published: withSignatures(note, lines), now })
  tools.metrics.onPublished(checkpoint.size, now)
  return undefined
}
