import { concatBytes } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { foldSubtrees, HASH_LENGTH, leafHash, requireSizes } from '../merkle/tree-hash.ts'
import { encodeBundle } from './entry-bundle.ts'
import { perfectHashes, tileRoot } from './subtree.ts'
import { MAXIMUM_TILE_LEVEL, TILE_WIDTH, tileWidth, type ReadTile, type Tile, type TileName } from './tile.ts'

/** The right edge of a tree: its partial tiles and its partial entry bundle. All that is needed to append. */
export interface TreeEdge {
  readonly size: number
  /** The partial tile of each level, from level 0 up; empty where the level has none. */
  readonly tiles: readonly Uint8Array[]
  /** The partial entry bundle. */
  readonly entries: Uint8Array
}

export interface Appended {
  readonly edge: TreeEdge
  readonly root: Uint8Array
  /** Every tile and bundle that is new or wider than before: full ones, and the partial ones of the new size. */
  readonly tiles: readonly Tile[]
}

export const EMPTY_EDGE: TreeEdge = { size: 0, tiles: [], entries: new Uint8Array() }

/** The partial tiles and the partial bundle of a tree of this size: what `readEdge` reads. */
export function edgeTiles(size: number): TileName[] {
  requireSizes(size)
  const levels = Array.from({ length: MAXIMUM_TILE_LEVEL + 1 }, (_, level) => level)
  return (['entries', ...levels] as const).flatMap((level) => {
    const index = Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 1 : level + 1))
    const width = tileWidth({ level, index }, size)
    return width === 0 ? [] : [{ level, index, width }]
  })
}

/** The right edge of a tree whose tiles are stored. */
export async function readEdge(size: number, readTile: ReadTile): Promise<TreeEdge> {
  const read = await Promise.all(
    edgeTiles(size).map(async (name) => ({ ...name, bytes: await readTile(name) })),
  )
  const tiles = Array.from(
    { length: MAXIMUM_TILE_LEVEL + 1 },
    (_, level) => read.find((tile) => tile.level === level)?.bytes ?? new Uint8Array(),
  )
  const entries = read.find(({ level }) => level === 'entries')?.bytes ?? new Uint8Array()
  const edge = { size, tiles, entries }
  requireEdge(edge)
  return edge
}

/** The root of the tree behind an edge. */
export function edgeRoot(edge: TreeEdge): Uint8Array {
  requireEdge(edge)
  return foldSubtrees(edge.tiles.toReversed().flatMap(perfectHashes))
}

/**
 * Appends entries to a tree. Pure: store `tiles`, then sign `root` at `edge.size`.
 *
 * @example
 * const { edge, root, tiles } = appendLeaves(await readEdge(size, readTile), leaves)
 * for (const tile of tiles) await store(tilePath(tile), tile.bytes)
 */
export function appendLeaves(before: TreeEdge, entries: readonly Uint8Array[]): Appended {
  requireEdge(before)
  const size = before.size + entries.length
  requireSizes(size)
  const full: Tile[] = []
  const bundles = appendEntries(before, entries, full)
  const levels: Uint8Array[] = []
  let added: Uint8Array[] = entries.map(leafHash)
  for (let level = 0; level <= MAXIMUM_TILE_LEVEL; level++) {
    const start = Math.floor(before.size / TILE_WIDTH ** (level + 1))
    const { whole, rest } = split(concatBytes(before.tiles[level] ?? new Uint8Array(), ...added))
    for (const [offset, bytes] of whole.entries())
      full.push({ level, index: start + offset, width: TILE_WIDTH, bytes })
    levels.push(rest)
    added = whole.map(tileRoot)
  }
  const edge = { size, tiles: levels, entries: bundles }
  const partial = edgeTiles(size).map((name): Tile => ({
    ...name,
    bytes: name.level === 'entries' ? bundles : (levels[name.level] as Uint8Array),
  }))
  const changed = partial.filter((tile) => tileWidth(tile, before.size) !== tile.width)
  return { edge, root: edgeRoot(edge), tiles: [...full, ...changed] }
}

function appendEntries(before: TreeEdge, entries: readonly Uint8Array[], full: Tile[]): Uint8Array {
  let [bundle, index, width] = [
    before.entries,
    Math.floor(before.size / TILE_WIDTH),
    before.size % TILE_WIDTH,
  ]
  for (let at = 0; at < entries.length;) {
    const next = entries.slice(at, at + TILE_WIDTH - width)
    bundle = concatBytes(bundle, encodeBundle(next))
    at += next.length
    width += next.length
    if (width < TILE_WIDTH) break
    full.push({ level: 'entries', index, width, bytes: bundle })
    ;[bundle, index, width] = [new Uint8Array(), index + 1, 0]
  }
  return bundle
}

function split(hashes: Uint8Array): { whole: Uint8Array[]; rest: Uint8Array } {
  const length = TILE_WIDTH * HASH_LENGTH
  const count = Math.floor(hashes.length / length)
  const whole = Array.from({ length: count }, (_, index) =>
    hashes.slice(index * length, (index + 1) * length),
  )
  return { whole, rest: hashes.slice(count * length) }
}

function requireEdge({ size, tiles, entries }: TreeEdge): void {
  requireSizes(size)
  const isWhole = tiles.every(
    ({ length }, level) => length === (Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH) * HASH_LENGTH,
  )
  const isComplete = size < TILE_WIDTH ** tiles.length || tiles.length > MAXIMUM_TILE_LEVEL
  if (!isWhole || !isComplete || entries.length > 0 !== size % TILE_WIDTH > 0)
    throw new LogError('edge_mismatch')
}
