import { decodeBundle, TILE_WIDTH, tileWidth } from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'
import { returnToPending } from '../../kernel/log-pending-store.ts'
import { batchesFrom, removeBatchesFrom } from './batch-store.ts'
import { moveHead, type TreeHead } from './log-state-store.ts'
import { cutTiles, tileReader } from './tile-store.ts'

/** Leaves that one truncation may take back: they pass through memory. */
const MAXIMUM_TRUNCATED = 100_096

/** The tail holds too many leaves, or leaves that came from a mirror and have no batch. */
export class TailKept extends Error {
  override readonly name = 'TailKept'
}

/**
 * Takes back leaves behind the last signed checkpoint, which nobody outside has seen. They wait again, before all
 * others: records of a thread keep their order.
 */
export async function truncateTail(tx: Transaction, from: TreeHead, to: TreeHead): Promise<void> {
  if (from.size - to.size > MAXIMUM_TRUNCATED) throw new TailKept('too many leaves')
  const batches = await batchesFrom(tx, to.size)
  const covered = batches.reduce((sum, { leaf_count }) => sum + leaf_count, 0)
  if (covered !== from.size - to.size) throw new TailKept('leaves without a batch')
  const leaves = await readLeaves(tx, to.size, from.size)
  const waiting = batches.map(({ batch_id, secret, first_index, leaf_count }) => {
    const start = first_index - to.size
    return { batch_id, secret, leaves: Buffer.concat(leaves.slice(start, start + leaf_count)) }
  })
  await returnToPending(tx, waiting)
  await removeBatchesFrom(tx, to.size)
  await cutTiles(tx, to.size)
  await moveHead(tx, from, to)
}

async function readLeaves(tx: Transaction, start: number, end: number): Promise<Uint8Array[]> {
  const readTile = tileReader(tx)
  const leaves: Uint8Array[] = []
  for (let index = Math.floor(start / TILE_WIDTH); index * TILE_WIDTH < end; index++) {
    const width = tileWidth({ level: 'entries', index }, end)
    const bundle = decodeBundle(await readTile({ level: 'entries', index, width }), width)
    leaves.push(...bundle.slice(Math.max(0, start - index * TILE_WIDTH)))
  }
  return leaves
}
