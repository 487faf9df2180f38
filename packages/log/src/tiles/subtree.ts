import { LogError } from '../errors.ts'
import { HASH_LENGTH, nodeHash } from '../merkle/tree-hash.ts'
import { hashAt, TILE_HEIGHT, TILE_WIDTH, tileWidth, type TileName } from './tile.ts'

/** A perfect subtree: the `index`-th of 2^height leaves. */
export interface Subtree {
  readonly height: number
  readonly index: number
}

/** Splits leaves `start` to `end` into perfect subtrees, the largest first; `start` is aligned to the first of them. */
export function subtreesOf(start: number, end: number): Subtree[] {
  const subtrees: Subtree[] = []
  let at = start
  while (at < end) {
    const height = Math.min(trailingZeros(at), floorLog2(end - at))
    subtrees.push({ height, index: at / 2 ** height })
    at += 2 ** height
  }
  return subtrees
}

/** The tile that holds the leaves of a subtree, in a tree of this size. */
export function tileOf({ height, index }: Subtree, size: number): TileName {
  const level = Math.floor(height / TILE_HEIGHT)
  const tile = { level, index: Math.floor((index * 2 ** (height % TILE_HEIGHT)) / TILE_WIDTH) }
  return { ...tile, width: tileWidth(tile, size) }
}

/** The root of a subtree, from the tile that holds it. */
export function subtreeHash({ height, index }: Subtree, tile: Uint8Array): Uint8Array {
  const rise = height % TILE_HEIGHT
  const hash = levelsOf(tile)[rise]?.[index % (TILE_WIDTH / 2 ** rise)]
  if (!hash) throw new LogError('tile_length')
  return hash
}

/** All perfect subtrees of a tile, by height. Kept as long as the tile is: the next proof from it needs no hashing. */
const expanded = new WeakMap<Uint8Array, readonly (readonly Uint8Array[])[]>()

function levelsOf(tile: Uint8Array): readonly (readonly Uint8Array[])[] {
  const known = expanded.get(tile)
  if (known) return known
  let level = Array.from({ length: tile.length / HASH_LENGTH }, (_, index) => hashAt(tile, index))
  const levels = [level]
  for (let height = 1; height <= TILE_HEIGHT; height++) {
    const below = level
    level = Array.from({ length: Math.floor(below.length / 2) }, (_, pair) =>
      nodeHash(below[2 * pair] as Uint8Array, below[2 * pair + 1] as Uint8Array),
    )
    levels.push(level)
  }
  expanded.set(tile, levels)
  return levels
}

/** The largest power of two below `value`, where RFC 9162 splits a tree. */
export function splitOf(value: number): number {
  const power = 2 ** floorLog2(value)
  return power === value ? power / 2 : power
}

/** The hashes of a partial tile, folded into perfect subtrees, the largest first. */
export function perfectHashes(tile: Uint8Array): Uint8Array[] {
  return subtreesOf(0, tile.length / HASH_LENGTH).map((subtree) => subtreeHash(subtree, tile))
}

/** The root over a full tile: one hash of the level above. */
export function tileRoot(tile: Uint8Array): Uint8Array {
  return levelsOf(tile)[TILE_HEIGHT]?.[0] as Uint8Array
}

function floorLog2(value: number): number {
  let height = 0
  while (2 ** (height + 1) <= value) height++
  return height
}

function trailingZeros(value: number): number {
  if (value === 0) return Number.POSITIVE_INFINITY
  let zeros = 0
  while ((value / 2 ** zeros) % 2 === 0) zeros++
  return zeros
}
