import { decodeBase64url } from '@agent-exchange/crypto'
import {
  appendLeaves,
  decodeBundle,
  LEAF_LENGTH,
  LogError,
  openCheckpoint,
  proveConsistency,
  readEdge,
  SIGNATURE_TYPE,
  TILE_WIDTH,
  tileWidth,
  verifierKey,
  verifyConsistency,
  type OpenedCheckpoint,
  type TreeEdge,
} from '@agent-exchange/log'
import type { Transaction } from '../../db/database.ts'
import { listAllKeys, publicJwkOf } from '../../kernel/platform-keys-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { matchPending } from './match-pending.ts'
import { moveHead, readLogState, type LogState, type Refusal } from './log-state-store.ts'
import { openMirror, unusable, type LogMirror } from './log-mirror.ts'
import { adoptCheckpoint } from './checkpoint-store.ts'
import { saveTiles, tileReader } from './tile-store.ts'

/** Leaves that one call copies: it is one transaction. Call again for the rest. */
const MAXIMUM_REFILLED = 100_096

/**
 * Refills the tail that the database lost from a mirror, as opaque entries, so that the log continues with the same
 * root although the content behind those leaves is gone. Every entry is verified against a checkpoint that our own key
 * signed.
 */
export async function recoverLog(tx: Transaction, mirrorUrl: string, now: string) {
  const state = await readLogState(tx)
  if (state.refusal === null) throw new Problem('invalid_state_transition', { state: 'running' })
  const refusal = JSON.parse(state.refusal) as Refusal
  const mirror = openMirror(mirrorUrl)
  const { note, checkpoint } = await readMirrorCheckpoint(tx, state, mirror)
  const { size } = checkpoint
  if (size < state.size || size < (refusal.known_size ?? 0))
    throw unusable(
      `The mirror ends at ${size}; the log had at least ${refusal.known_size ?? state.size} entries.`,
    )
  const end = Math.min(size, state.size - (state.size % TILE_WIDTH) + MAXIMUM_REFILLED)
  await requirePart({ size: state.size, root: state.root }, checkpoint, mirror)
  const entries = await readEntries(mirror, state.size, end, size)
  const before: TreeEdge = await readEdge(state.size, tileReader(tx))
  const { edge, root, tiles } = appendLeaves(before, entries)
  await requirePart({ size: edge.size, root }, checkpoint, mirror)
  await moveHead(tx, state, { size: edge.size, root })
  await saveTiles(tx, tiles)
  const matched = await matchPending(tx, entries, state.size)
  if (edge.size === size) await adoptCheckpoint(tx, checkpoint, { note, now })
  return { from: state.size, size: edge.size, remaining: size - edge.size, matched_batches: matched }
}

/** An earlier key of ours may have signed it. */
async function readMirrorCheckpoint(tx: Transaction, { origin }: LogState, mirror: LogMirror) {
  const keys = (await listAllKeys(tx, 'log')).map((row) => {
    const { x } = publicJwkOf(row) as unknown as { x: string }
    return verifierKey(origin, SIGNATURE_TYPE.ed25519, decodeBase64url(x))
  })
  const bytes = await mirror.checkpoint()
  try {
    const checkpoint = await openCheckpoint(bytes, keys)
    return { checkpoint, note: Buffer.from(bytes).toString('utf8') }
  } catch (error) {
    if (error instanceof LogError) throw unusable(`The mirror's checkpoint is not ours: ${error.code}.`)
    throw error
  }
}

/** The tree of this size and root is the beginning of the signed one. */
async function requirePart(
  part: { readonly size: number; readonly root: Uint8Array },
  checkpoint: OpenedCheckpoint,
  mirror: LogMirror,
): Promise<void> {
  try {
    verifyConsistency({
      oldSize: part.size,
      oldRoot: part.root,
      newSize: checkpoint.size,
      newRoot: checkpoint.root,
      proof: await proveConsistency(part.size, checkpoint.size, mirror.readTile),
    })
  } catch (error) {
    if (error instanceof LogError)
      throw unusable(`The mirror does not continue the tree of ${part.size} entries: ${error.code}.`)
    throw error
  }
}

async function readEntries(
  mirror: LogMirror,
  start: number,
  end: number,
  size: number,
): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = []
  for (let index = Math.floor(start / TILE_WIDTH); index * TILE_WIDTH < end; index++) {
    const width = tileWidth({ level: 'entries', index }, size)
    const bundle = decoded(await mirror.readTile({ level: 'entries', index, width }), width)
    entries.push(...bundle.slice(Math.max(0, start - index * TILE_WIDTH), end - index * TILE_WIDTH))
  }
  return entries
}

function decoded(bytes: Uint8Array, width: number): Uint8Array[] {
  try {
    const entries = decodeBundle(bytes, width)
    if (entries.every(({ length }) => length === LEAF_LENGTH)) return entries
  } catch (error) {
    if (!(error instanceof LogError)) throw error
  }
  throw unusable('A bundle of the mirror cannot be read.')
}
