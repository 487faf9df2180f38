import {
  formatProof,
  proveInclusion,
  TILE_WIDTH,
  tileWidth,
  verifyInclusion,
  type ReadTile,
} from '@agent-exchange/log'
import type { PublishedCheckpoint } from './checkpoint-store.ts'
import { orDamage } from './damage.ts'

const HASH_BYTES = 32

/** The tlog-proof of a leaf, verified first. */
export async function proveLeaf(
  index: number,
  { size, root, published }: PublishedCheckpoint,
  readTile: ReadTile,
): Promise<string> {
  const hashes = await orDamage({ leaf: index }, async () => {
    const proof = await proveInclusion(index, size, readTile)
    verifyInclusion({ index, size, root, leafHash: await leafHashAt(index, size, readTile), proof })
    return proof
  })
  return formatProof({ index, hashes, checkpoint: published })
}

async function leafHashAt(index: number, size: number, readTile: ReadTile): Promise<Uint8Array> {
  const name = { level: 0, index: Math.floor(index / TILE_WIDTH) }
  const tile = await readTile({ ...name, width: tileWidth(name, size) })
  const start = (index % TILE_WIDTH) * HASH_BYTES
  return tile.subarray(start, start + HASH_BYTES)
}
