import {
  edgeRoot,
  EMPTY_ROOT,
  formatCheckpoint,
  readEdge,
  rootFromTiles,
  signNote,
  type Checkpoint,
  type NoteSigner,
  type PolicyWitness,
  type ReadTile,
  type TreeEdge,
} from '@agent-exchange/log'
import type { Database } from '@agent-exchange/database'
import type { CheckpointFile } from './checkpoint-file.ts'
import { collectCosignatures } from './collect-cosignatures.ts'
import { latestSigned } from './checkpoint-store.ts'
import { type LogState, readLogState, type Refusal } from './log-state-store.ts'
import { tileReader } from './tile-store.ts'

interface ContinuationSettings {
  readonly db: Database
  readonly file: CheckpointFile
  readonly witnesses: readonly PolicyWitness[]
  readonly signers: readonly [NoteSigner, ...NoteSigner[]]
  readonly now: string
}

export interface Continuation {
  readonly state: LogState
  readonly edge: TreeEdge | undefined
  readonly refusal: Refusal | undefined
  /** The log has a past, and nothing outside the database could contradict it. */
  readonly isUnguarded: boolean
}

/**
 * Decides whether the stored tree continues everything that was ever signed: the checkpoint file of this machine, the
 * checkpoints in the database, and what the witnesses remember. A database that was restored from an older copy, or
 * that lost its tail in a failover, is refused before anything is appended or signed.
 */
export async function checkContinuation(settings: ContinuationSettings): Promise<Continuation> {
  const { db, file } = settings
  const state = await readLogState(db)
  const remembered = await file.read(state.origin)
  const readTile = tileReader(db)
  const damaged: Refusal = { reason: 'tiles_damaged', own_size: state.size }
  let edge: TreeEdge
  try {
    edge = await readEdge(state.size, readTile)
  } catch {
    return { state, edge: undefined, refusal: damaged, isUnguarded: false }
  }
  if (!isSame(edgeRoot(edge), state.root))
    return { state, edge: undefined, refusal: damaged, isUnguarded: false }
  const refusal =
    (remembered && (await compareWithFile(state, remembered, readTile))) ??
    (await compareWithSigned(settings, state, { readTile, hasFile: remembered !== undefined }))
  const isUnguarded = !remembered && settings.witnesses.length === 0 && state.size > 0
  return { state, edge, refusal, isUnguarded }
}

/** Why the stored tree does not continue the remembered checkpoint; undefined where it does. */
export async function compareWithFile(
  { size }: LogState,
  remembered: Checkpoint | 'ended',
  readTile: ReadTile,
): Promise<Refusal | undefined> {
  if (remembered === 'ended') return { reason: 'other_origin', own_size: size }
  const sizes = { known_size: remembered.size, own_size: size }
  if (remembered.size > size) return { reason: 'behind_checkpoint_file', ...sizes }
  const root = await rootFromTiles(remembered.size, readTile)
  return isSame(root, remembered.root) ? undefined : { reason: 'fork_of_checkpoint_file', ...sizes }
}

async function compareWithSigned(
  { db, witnesses, signers, now }: ContinuationSettings,
  state: LogState,
  { readTile, hasFile }: { readTile: ReadTile; hasFile: boolean },
): Promise<Refusal | undefined> {
  const signed = await latestSigned(db, state.origin)
  const own_size = state.size
  if (signed && (signed.size > own_size || !isSame(await rootFromTiles(signed.size, readTile), signed.root)))
    return { reason: 'tiles_damaged', own_size }
  if (witnesses.length === 0) return undefined
  // A witness that knows more says so. To send a stored note once more signs nothing, and the empty tree, which is sent
  // for a database without any, is the beginning of every log.
  const size = signed?.size ?? 0
  const note = signed?.note ?? (await signNote(formatCheckpoint(emptyTree(state.origin)), signers))
  const probe = { witnesses, size, note, logKey: signers[0].key, readTile, now }
  const { refusal, answered } = await collectCosignatures(db, probe)
  if (refusal || answered > 0 || hasFile || !signed) return refusal
  return { reason: 'witnesses_unreachable', own_size }
}

const emptyTree = (origin: string): Checkpoint => ({ origin, size: 0, root: EMPTY_ROOT })

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0
}
