import { appendLeaves, EMPTY_EDGE, type TreeEdge } from './append-leaves.ts'
import { tilePath, type Tile, type TileName } from './tile.ts'

/** A store that keeps every tile ever written, as a log does. */
export class StoredTiles {
  readonly tiles = new Map<string, Uint8Array>()
  edge: TreeEdge = EMPTY_EDGE
  root: Uint8Array = new Uint8Array()

  append(leaves: readonly Uint8Array[]): readonly Tile[] {
    const { edge, root, tiles } = appendLeaves(this.edge, leaves)
    for (const tile of tiles) this.tiles.set(tilePath(tile), tile.bytes)
    this.edge = edge
    this.root = root
    return tiles
  }

  readonly read = (name: TileName): Uint8Array => {
    const bytes = this.tiles.get(tilePath(name))
    if (!bytes) throw new Error(`there is no tile ${tilePath(name)}`)
    return bytes
  }
}
