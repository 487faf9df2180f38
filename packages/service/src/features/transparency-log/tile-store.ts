import {
  LEAF_LENGTH,
  TILE_WIDTH,
  tileWidth,
  type ReadTile,
  type Tile,
  type TileName,
} from '@agent-exchange/log'
import { LRUCache } from 'lru-cache'
import type { Queries, Transaction } from '@agent-exchange/database'

/** This file owns the table log_tile. */

const ENTRIES_LEVEL = -1
const HASH_BYTES = 32
/** Each entry of a bundle has its length in two bytes before it. */
const ENTRY_BYTES = 2 + LEAF_LENGTH
const MAXIMUM_CACHED_TILES = 512

const levelOf = ({ level }: TileName) => (level === 'entries' ? ENTRIES_LEVEL : level)

/** The stored tile, cut to the wanted width. Undefined if the tree does not reach it. */
export async function findTile(queries: Queries, name: TileName): Promise<Uint8Array | undefined> {
  const length = name.width * (name.level === 'entries' ? ENTRY_BYTES : HASH_BYTES)
  const [row] = await queries<{ bytes: Uint8Array }[]>`
    select substring(bytes from 1 for ${length}::integer) as bytes from log_tile
    where level = ${levelOf(name)} and tile_index = ${name.index} and width >= ${name.width}`
  return row?.bytes
}

/** A tile that the size of the tree requires is not stored. */
export class MissingTile extends Error {
  override readonly name = 'MissingTile'
}

export function tileReader(queries: Queries): ReadTile {
  return async (name) => {
    const bytes = await findTile(queries, name)
    if (!bytes) throw new MissingTile(`the transparency log has no tile ${name.level}/${name.index}`)
    return bytes
  }
}

/** Tiles below a published checkpoint never change, except that an operator restores a damaged one. */
export interface CachedTiles {
  /** Keeps the tiles that the work read if it succeeds. It verifies what it makes of them, so no damaged one is kept. */
  use<T>(work: (readTile: ReadTile) => Promise<T>): Promise<T>
  forget(): void
}

export function cachedTiles(queries: Queries): CachedTiles {
  const read = tileReader(queries)
  const cache = new LRUCache<string, Uint8Array>({ max: MAXIMUM_CACHED_TILES })
  return {
    async use(work) {
      const found = new Map<string, Uint8Array>()
      const result = await work(async (name) => {
        const key = `${name.level}/${name.index}/${name.width}`
        const known = cache.get(key) ?? found.get(key)
        if (known) return known
        const bytes = await read(name)
        found.set(key, bytes)
        return bytes
      })
      for (const [key, bytes] of found) cache.set(key, bytes)
      return result
    },
    forget: () => cache.clear(),
  }
}

/** Stores new tiles, and wider versions of partial ones. */
export async function saveTiles(tx: Transaction, tiles: readonly Tile[]): Promise<void> {
  await Promise.all(
    tiles.map(
      (tile) => tx`
        insert into log_tile (level, tile_index, width, bytes)
        values (${levelOf(tile)}, ${tile.index}, ${tile.width}, ${tile.bytes})
        on conflict (level, tile_index) do update set width = excluded.width, bytes = excluded.bytes
        where log_tile.width < excluded.width`,
    ),
  )
}

/** Removes what lies behind the first `size` leaves. */
export async function cutTiles(tx: Transaction, size: number): Promise<void> {
  const levels = await tx<{ level: number }[]>`select distinct level from log_tile`
  for (const { level } of levels) {
    const name = level === ENTRIES_LEVEL ? ('entries' as const) : level
    const index = Math.floor(size / TILE_WIDTH ** (name === 'entries' ? 1 : name + 1))
    const width = tileWidth({ level: name, index }, size)
    const length = width * (name === 'entries' ? ENTRY_BYTES : HASH_BYTES)
    await tx`
      delete from log_tile where level = ${level}
        and (tile_index > ${index} or (tile_index = ${index} and ${width}::integer = 0))`
    await tx`
      update log_tile set width = ${width}, bytes = substring(bytes from 1 for ${length}::integer)
      where level = ${level} and tile_index = ${index} and width > ${width}`
  }
}
