import {
  appendLeaves,
  decodeBundle,
  EMPTY_ROOT,
  LEAF_LENGTH,
  LogError,
  openCheckpoint,
  proveConsistency,
  readEdge,
  TILE_WIDTH,
  tileWidth,
  verifyConsistency,
  type OpenedCheckpoint,
  type TreeEdge,
} from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import { matchPending } from './match-pending.ts'
import { logVerifiers } from './log-key.ts'
import { moveHead, readLogState, type LogState, type Refusal, type TreeHead } from './log-state-store.ts'
import { unusable, type LogMirror } from './log-mirror.ts'
import { adoptCheckpoint, latestSigned } from './checkpoint-store.ts'
import { saveTiles, tileReader } from './tile-store.ts'
import { TailKept, truncateTail } from './truncate-tail.ts'

/** Leaves that one call copies: it is one transaction. Call again for the rest. */
const MAXIMUM_REFILLED = 100_096

/**
 * Refills the tail that the database lost from a mirror, as opaque entries, so that the log continues with the same
 * root although the content behind those leaves is gone. Every entry is verified against a checkpoint that our own key
 * signed. Leaves that were appended after the loss, and that no checkpoint covers, wait again behind those of the mirror.
 */
export async function recoverLog(tx: Transaction, mirror: LogMirror, now: string) {
  // The mirror is read between the statements, for as long as its own limit allows.
  await tx`set local idle_in_transaction_session_timeout = 0`
  const state = await readLogState(tx)
  if (state.refusal === null) throw new Problem('invalid_state_transition', { state: 'running' })
  const refusal = JSON.parse(state.refusal) as Refusal
  const { note, checkpoint } = await readMirrorCheckpoint(tx, state, mirror)
  const { size } = checkpoint
  const known = refusal.known_size ?? 0
  if (size < known) throw unusable(`The mirror ends at ${size}; the log had at least ${known} entries.`)
  const head = await continuedHead(tx, state, checkpoint, mirror)
  const end = Math.min(size, head.size - (head.size % TILE_WIDTH) + MAXIMUM_REFILLED)
  const entries = await readEntries(mirror, head.size, end, size)
  const before: TreeEdge = await readEdge(head.size, tileReader(tx))
  const { edge, root, tiles } = appendLeaves(before, entries)
  if (!(await isPart({ size: edge.size, root }, checkpoint, mirror)))
    throw unusable(`The entries of the mirror do not give the tree of ${edge.size} entries.`)
  await moveHead(tx, head, { size: edge.size, root })
  await saveTiles(tx, tiles)
  const matched = await matchPending(tx, entries, head.size)
  if (edge.size === size) await adoptCheckpoint(tx, checkpoint, { note, now })
  return {
    from: head.size,
    size: edge.size,
    remaining: size - edge.size,
    truncated: state.size - head.size,
    matched_batches: matched,
  }
}

/** The stored tree, or what is left of it once leaves that nobody signed are taken back. */
async function continuedHead(
  tx: Transaction,
  state: LogState,
  checkpoint: OpenedCheckpoint,
  mirror: LogMirror,
): Promise<TreeHead> {
  if (await isPart(state, checkpoint, mirror)) return state
  const head = (await latestSigned(tx, state.origin)) ?? { size: 0, root: EMPTY_ROOT }
  if (!(await isPart(head, checkpoint, mirror)))
    throw unusable(
      `The mirror does not continue the signed tree of ${head.size} entries. Find another copy, or start a new log with --new-origin.`,
    )
  try {
    await truncateTail(tx, state, head)
  } catch (error) {
    if (error instanceof TailKept)
      throw unusable(`The stored tree contradicts the mirror behind entry ${head.size}: ${error.message}.`)
    throw error
  }
  return head
}

async function readMirrorCheckpoint(tx: Transaction, { origin }: LogState, mirror: LogMirror) {
  const keys = await logVerifiers(tx, origin)
  const bytes = await mirror.checkpoint()
  try {
    const checkpoint = await openCheckpoint(bytes, keys)
    return { checkpoint, note: Buffer.from(bytes).toString('utf8') }
  } catch (error) {
    if (error instanceof LogError) throw unusable(`The mirror's checkpoint is not ours: ${error.code}.`)
    throw error
  }
}

/** Whether the tree of this size and root is the beginning of the signed one. */
async function isPart(part: TreeHead, checkpoint: OpenedCheckpoint, mirror: LogMirror): Promise<boolean> {
  if (part.size > checkpoint.size) return false
  try {
    verifyConsistency({
      oldSize: part.size,
      oldRoot: part.root,
      newSize: checkpoint.size,
      newRoot: checkpoint.root,
      proof: await proveConsistency(part.size, checkpoint.size, mirror.readTile),
    })
    return true
  } catch (error) {
    if (error instanceof LogError) return false
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
