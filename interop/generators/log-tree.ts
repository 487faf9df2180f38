import { createHash } from 'node:crypto'
import {
  appendLeaves,
  EMPTY_EDGE,
  formatCheckpoint,
  signNote,
  tilePath,
  tileWidth,
  type ReadTile,
} from '@agent-exchange/log'
import { logSigner } from '@agent-exchange/testkit'

const HASH_BYTES = 32
export const LARGE = 300
export const LEAVES = Array.from({ length: LARGE }, (_, index) =>
  Uint8Array.from(createHash('sha512').update(`leaf ${index}`).digest()),
)

/** The tree of the first leaves, with a signed checkpoint. */
export async function treeOf(size: number) {
  const { root, tiles } = appendLeaves(EMPTY_EDGE, LEAVES.slice(0, size))
  const stored = new Map(tiles.map((tile) => [tilePath(tile), tile.bytes]))
  const readTile: ReadTile = (name) =>
    (stored.get(tilePath({ ...name, width: tileWidth(name, size) })) ?? new Uint8Array()).slice(
      0,
      name.width * HASH_BYTES,
    )
  const origin = logSigner.key.name
  return { root, readTile, checkpoint: await signNote(formatCheckpoint({ origin, size, root }), [logSigner]) }
}
