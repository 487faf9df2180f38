import { decodeBundle, TILE_WIDTH, tileWidth } from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'
import { moveHead, type TreeHead } from './log-state-store.ts'
import { cutTiles, tileReader } from './tile-store.ts'

/** Leaves that one truncation may take back: they pass through memory. */
const MAXIMUM_TRUNCATED = 100_096

interface BatchRow {
  readonly batch_id: Uint8Array
  readonly secret: Uint8Array
  readonly first_index: number
  readonly leaf_count: number
}

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
  const batches = await tx<BatchRow[]>`
    select batch_id, secret, first_index, leaf_count from log_batch
    where first_index >= ${to.size} order by first_index`
  const covered = batches.reduce((sum, { leaf_count }) => sum + leaf_count, 0)
  if (covered !== from.size - to.size) throw new TailKept('leaves without a batch')
  const leaves = await readLeaves(tx, to.size, from.size)
  const [{ first } = { first: 1 }] = await tx<{ first: number }[]>`
    select coalesce(min(position), 1) as first from log_pending`
  for (const [at, batch] of batches.entries()) {
    const start = batch.first_index - to.size
    const own = Buffer.concat(leaves.slice(start, start + batch.leaf_count))
    await tx`
      insert into log_pending (position, batch_id, secret, leaves) overriding system value
      values (${first - batches.length + at}, ${batch.batch_id}, ${batch.secret}, ${own})`
  }
  await tx`delete from log_batch where first_index >= ${to.size}`
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
