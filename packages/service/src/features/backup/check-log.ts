import {
  appendLeaves,
  decodeBundle,
  EMPTY_EDGE,
  LogError,
  openCheckpoint,
  rootFromTiles,
  TILE_WIDTH,
  tileWidth,
  type Checkpoint,
  type TreeEdge,
} from '@agent-exchange/log'
import type { Database } from '@agent-exchange/database'
import { latestPublished } from '../transparency-log/checkpoint-store.ts'
import { logVerifiers } from '../transparency-log/log-key.ts'
import { readLogState } from '../transparency-log/log-state-store.ts'
import { findTile, tileReader } from '../transparency-log/tile-store.ts'
import { BackupContradiction, NotProved } from './check.ts'

const isSame = (left: Uint8Array, right: Uint8Array) => Buffer.compare(left, right) === 0

/** Rebuilds the tree from its entries, and compares it with the stored tiles and the published checkpoint. */
export async function checkTiles(db: Database): Promise<string> {
  const state = await readLogState(db)
  let edge: TreeEdge = EMPTY_EDGE
  let root = state.size === 0 ? state.root : new Uint8Array()
  for (let index = 0; index * TILE_WIDTH < state.size; index++) {
    const name = {
      level: 'entries' as const,
      index,
      width: tileWidth({ level: 'entries', index }, state.size),
    }
    const bundle = await findTile(db, name)
    if (!bundle) throw new BackupContradiction(`The log lacks the entries of tile ${index}.`)
    const appended = appendLeaves(edge, decodeBundle(bundle, name.width))
    for (const tile of appended.tiles) {
      const stored = await findTile(db, tile)
      if (!stored || !isSame(stored, tile.bytes))
        throw new BackupContradiction(`Tile ${tile.level}/${tile.index} of the log is damaged.`)
    }
    ;({ edge, root } = appended)
  }
  if (!isSame(root, state.root)) throw new BackupContradiction('The entries of the log do not give its root.')
  const published = await latestPublished(db)
  if (!published) return `The tree has ${state.size} leaves; no checkpoint was published.`
  await requireSigned(db, published.published, published)
  if (!(await includes(db, state.size, published)))
    throw new BackupContradiction('The published checkpoint in the backup contradicts the tiles.')
  return `The tree of ${state.size} leaves was rebuilt; the published checkpoint of ${published.size} leaves is signed and fits it.`
}

async function requireSigned(db: Database, note: string, expected: Checkpoint): Promise<void> {
  const opened = await openedBy(db, note, expected.origin)
  if (opened.size !== expected.size || !isSame(opened.root, expected.root))
    throw new BackupContradiction('The published checkpoint is not the one that was signed.')
}

async function openedBy(db: Database, note: string, origin: string): Promise<Checkpoint> {
  try {
    return await openCheckpoint(note, await logVerifiers(db, origin))
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    throw new BackupContradiction(`The checkpoint is not signed by a log key of the backup (${error.code}).`)
  }
}

async function includes(db: Database, size: number, checkpoint: Checkpoint): Promise<boolean> {
  return (
    checkpoint.size <= size && isSame(await rootFromTiles(checkpoint.size, tileReader(db)), checkpoint.root)
  )
}

/** The text of a checkpoint, or what a machine remembers of it. */
export type KnownCheckpoint = Checkpoint | 'ended' | { readonly note: string } | undefined

/**
 * Compares the log of the backup with a checkpoint that is known outside of it. `live` is the database of the running
 * exchange, whose log shows whether a later checkpoint continues the backup.
 */
export async function checkKnownCheckpoint(
  db: Database,
  known: KnownCheckpoint,
  live: Database | undefined,
): Promise<string> {
  const { origin, size, root } = await readLogState(db)
  if (known === undefined)
    throw new NotProved('No published checkpoint is known here. Give one with --checkpoint FILE.')
  if (known === 'ended')
    throw new NotProved(
      'This machine has signed under a later origin: the backup is from before that change.',
    )
  const checkpoint = 'note' in known ? await openedBy(db, known.note, origin) : known
  if (checkpoint.origin !== origin)
    throw new BackupContradiction(
      `The published checkpoint is of ${checkpoint.origin}, the backup of ${origin}.`,
    )
  if (checkpoint.size > size) {
    const later = `The published checkpoint has ${checkpoint.size} leaves and the backup ${size}. After a restore the log refuses to sign until \`aex log recover --mirror\` has refilled its tail.`
    if (!live) throw new NotProved(later)
    const grown = (await readLogState(live)).size
    const continues =
      (await includes(live, grown, checkpoint)) && (await includes(live, grown, { origin, size, root }))
    if (continues) return `The log of the running exchange continues the backup. ${later}`
    throw new BackupContradiction('The log of the running exchange does not continue that of the backup.')
  }
  if (await includes(db, size, checkpoint))
    return `The backup continues the published checkpoint of ${checkpoint.size} leaves.`
  throw new BackupContradiction(
    `The backup is a fork of the published checkpoint of ${checkpoint.size} leaves.`,
  )
}
