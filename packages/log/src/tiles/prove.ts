import { LogError } from '../errors.ts'
import { EMPTY_ROOT, foldSubtrees, requireSizes } from '../merkle/tree-hash.ts'
import { splitOf, subtreeHash, subtreesOf, tileOf, type Subtree } from './subtree.ts'
import { requireTile, tilePath, type ReadTile, type TileName } from './tile.ts'

/** Leaves `start` to `end`, whose root is one hash of a proof. */
interface Range {
  readonly start: number
  readonly end: number
}

/**
 * RFC 9162 section 2.1.3.1, from the tiles of a tree. The caller verifies the proof against the signed root before it
 * gives the proof away: a damaged tile leads to a proof that does not verify.
 */
export async function proveInclusion(index: number, size: number, readTile: ReadTile): Promise<Uint8Array[]> {
  requireSizes(index, size)
  if (index >= size) throw new LogError('inclusion_index')
  return hashesOf(inclusionRanges(index, { start: 0, end: size }), size, readTile)
}

/** RFC 9162 section 2.1.4.1. Empty where the old tree is empty or the same one. */
export async function proveConsistency(
  oldSize: number,
  newSize: number,
  readTile: ReadTile,
): Promise<Uint8Array[]> {
  requireSizes(oldSize, newSize)
  if (oldSize > newSize) throw new LogError('consistency_sizes')
  if (oldSize === 0 || oldSize === newSize) return []
  return hashesOf(consistencyRanges(oldSize, { start: 0, end: newSize }, true), newSize, readTile)
}

/** The root of the tree that the tiles hold. */
export async function rootFromTiles(size: number, readTile: ReadTile): Promise<Uint8Array> {
  requireSizes(size)
  if (size === 0) return EMPTY_ROOT
  const [root] = await hashesOf([{ start: 0, end: size }], size, readTile)
  return root as Uint8Array
}

/** The tiles that `proveInclusion` reads, for those who fetch them beforehand. */
export function tilesForInclusion(index: number, size: number): TileName[] {
  requireSizes(index, size)
  if (index >= size) throw new LogError('inclusion_index')
  return tilesOf(inclusionRanges(index, { start: 0, end: size }), size)
}

function inclusionRanges(index: number, { start, end }: Range): Range[] {
  const length = end - start
  if (length === 1) return []
  const split = start + splitOf(length)
  return index < split
    ? [...inclusionRanges(index, { start, end: split }), { start: split, end }]
    : [...inclusionRanges(index, { start: split, end }), { start, end: split }]
}

/** `isOldRoot`: the range is the whole old tree so far, whose root the verifier knows. */
function consistencyRanges(oldSize: number, { start, end }: Range, isOldRoot: boolean): Range[] {
  if (oldSize === end) return isOldRoot ? [] : [{ start, end }]
  const split = start + splitOf(end - start)
  return oldSize <= split
    ? [...consistencyRanges(oldSize, { start, end: split }, isOldRoot), { start: split, end }]
    : [...consistencyRanges(oldSize, { start: split, end }, false), { start, end: split }]
}

async function hashesOf(ranges: readonly Range[], size: number, readTile: ReadTile): Promise<Uint8Array[]> {
  const names = tilesOf(ranges, size)
  const tiles = new Map(
    await Promise.all(
      names.map(async (name) => [tilePath(name), requireTile(name, await readTile(name))] as const),
    ),
  )
  const hashOf = (subtree: Subtree) =>
    subtreeHash(subtree, tiles.get(tilePath(tileOf(subtree, size))) as Uint8Array)
  return ranges.map(({ start, end }) => foldSubtrees(subtreesOf(start, end).map(hashOf)))
}

/** Each tile once: at most a few for every level. */
function tilesOf(ranges: readonly Range[], size: number): TileName[] {
  const names = ranges
    .flatMap(({ start, end }) => subtreesOf(start, end))
    .map((subtree) => tileOf(subtree, size))
  return [...new Map(names.map((name) => [tilePath(name), name])).values()]
}
