import { LogError } from '../errors.ts'
import { HASH_LENGTH } from '../merkle/tree-hash.ts'

/** C2SP tlog-tiles: hashes in a full tile, and entries in a full bundle. */
export const TILE_WIDTH = 256
export const TILE_HEIGHT = 8

/** Levels that a tree of at most 2^53 - 1 leaves can have. */
export const MAXIMUM_TILE_LEVEL = 6

/** A tile of hashes at a level, or a bundle of entries. A width below 256 names a partial one. */
export interface TileName {
  readonly level: number | 'entries'
  readonly index: number
  readonly width: number
}

export interface Tile extends TileName {
  readonly bytes: Uint8Array
}

/** Reads one tile; the answer must have exactly the width that was asked for. */
export type ReadTile = (tile: TileName) => Uint8Array | Promise<Uint8Array>

/** The path below the prefix of the log, such as `tile/0/x001/234.p/17`. */
export function tilePath({ level, index, width }: TileName): string {
  const groups = [String(index % 1_000).padStart(3, '0')]
  for (let rest = Math.floor(index / 1_000); rest > 0; rest = Math.floor(rest / 1_000))
    groups.unshift(`x${String(rest % 1_000).padStart(3, '0')}`)
  const partial = width === TILE_WIDTH ? '' : `.p/${width}`
  return `tile/${level}/${groups.join('/')}${partial}`
}

const PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/u

/** Refuses every path that `tilePath` would not write, so that each tile has one address. */
export function parseTilePath(path: string): TileName {
  const [, levelText, indexText = '', widthText] = PATH.exec(path) ?? []
  if (levelText === undefined) throw new LogError('tile_path')
  const level: TileName['level'] = levelText === 'entries' ? levelText : Number(levelText)
  const index = Number(indexText.replaceAll(/[x/]/gu, ''))
  const width = widthText === undefined ? TILE_WIDTH : Number(widthText)
  const tile = { level, index, width }
  const isKnown = (level === 'entries' || level <= MAXIMUM_TILE_LEVEL) && width <= TILE_WIDTH
  if (!isKnown || !Number.isSafeInteger(index) || tilePath(tile) !== path) throw new LogError('tile_path')
  return tile
}

/** The width that a tile has in a tree of this size; 0 where the tree does not reach it. */
export function tileWidth({ level, index }: Pick<TileName, 'level' | 'index'>, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level))
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH))
}

export function requireTile({ width }: TileName, bytes: Uint8Array): Uint8Array {
  if (bytes.length !== width * HASH_LENGTH) throw new LogError('tile_length')
  return bytes
}

export function hashAt(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.subarray(index * HASH_LENGTH, (index + 1) * HASH_LENGTH)
}
