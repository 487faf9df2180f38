import { nodeHash } from '@agent-exchange/log'

const HASH_LENGTH = 32

/** The root over the hashes of a full tile. */
export function tileRootOf(tile: Uint8Array): Uint8Array {
  let level = Array.from({ length: tile.length / HASH_LENGTH }, (_, index) =>
    tile.subarray(index * HASH_LENGTH, (index + 1) * HASH_LENGTH),
  )
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, pair) =>
      nodeHash(level[2 * pair] as Uint8Array, level[2 * pair + 1] as Uint8Array),
    )
  return level[0] as Uint8Array
}
