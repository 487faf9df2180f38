import { encodeBase64 } from '@agent-exchange/crypto'
import {
  LogError,
  openCheckpoint,
  proveConsistency,
  rootFromTiles,
  SPLIT_VIEW_FORMAT,
  verifyConsistency,
  type OpenedCheckpoint,
  type SplitView,
  type VerifierKey,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { pause } from '../pause-and-backoff.ts'
import { fetchCheckpoint, tileReader, type LogContext } from './log-answers.ts'
import { knownKeys, withRotatedKeys, type PinnedKey } from './log-keys.ts'
import type { LogState, LogTrouble } from '../log-state.ts'
import { holdUnproved } from './log-trouble.ts'

/** A checkpoint that continues every checkpoint that this agent has seen. */
export interface AcceptedCheckpoint extends OpenedCheckpoint {
  /** The signed note, verbatim. */
  readonly note: string
  readonly keys: readonly VerifierKey[]
}

/** A proxy cache or a lagging replica may show an older checkpoint for a moment; a rollback stays. */
const OLDER_ATTEMPTS = 4
const OLDER_PAUSE_MS = 500
/** Attempts to store while other processes of the same agent store newer checkpoints. */
const STORE_ATTEMPTS = 10

/**
 * Fetches the newest checkpoint and demands proof that it continues the last one. On failure both signed notes are
 * kept, and the error says what the operator did. Undefined until the exchange has published a checkpoint.
 *
 * @example
 * const checkpoint = await checkLog(context)
 */
export async function checkLog(context: LogContext): Promise<AcceptedCheckpoint | undefined> {
  for (let attempt = 1; attempt <= STORE_ATTEMPTS; attempt++) {
    const state = await context.log.read()
    const known = await knownKeys(context, state)
    const trouble = await context.log.readTrouble()
    const seen = state ? await seenCheckpoints(state, trouble, known) : []
    const found = await newestCheckpoint(context, known, seen)
    if (!found) return undefined
    const { note, opened, keys } = found
    for (const earlier of seen) await requireContinuation(context, earlier, found)
    const next: LogState = { keys: keys.map(({ text }) => text), checkpoint: note }
    if (note !== state?.checkpoint && !(await context.log.replace(state, next))) continue
    if (trouble) await context.log.writeTrouble(undefined)
    return { ...opened, note, keys: keys.map(({ key }) => key) }
  }
  throw new ExchangeError('timed_out', {
    what: 'Other processes of this agent keep changing its state of the log.',
    retryable: true,
  })
}

/**
 * Demands that the checkpoint which a peer verified and the log that this agent sees are one history. A note that no
 * known key of the log signed is ignored, since a sender may write anything. A proof that cannot be had now becomes due
 * like one of this agent's own checkpoints.
 */
export async function checkPeerCheckpoint(context: LogContext, note: string): Promise<void> {
  const peer = await peerCheckpoint(context, note)
  if (!peer) return
  for (let attempt = 1; ; attempt++) {
    const own = await acceptedCheckpoint(context)
    if (!own) return
    if (peer.opened.size <= own.opened.size) return requireContinuation(context, peer, own, peer.note)
    if (attempt > OLDER_ATTEMPTS) throw await rolledBack(context, peer, own.note, own.keys)
    if (attempt > 1) await pause(OLDER_PAUSE_MS)
    await checkLog(context)
  }
}

async function peerCheckpoint(context: LogContext, note: string): Promise<Seen | undefined> {
  const state = await context.log.read()
  if (!state || state.checkpoint === note) return undefined
  const opened = await open(note, await knownKeys(context, state)).catch(() => undefined)
  return opened && { note, opened }
}

/** The newest checkpoint that this agent has accepted. */
async function acceptedCheckpoint(context: LogContext): Promise<Found | undefined> {
  const state = await context.log.read()
  if (!state) return undefined
  const keys = await knownKeys(context, state)
  return { note: state.checkpoint, opened: await open(state.checkpoint, keys), keys }
}

/** A checkpoint that a key of the log signed. */
interface Seen {
  readonly note: string
  readonly opened: OpenedCheckpoint
}

interface Found extends Seen {
  readonly keys: readonly PinnedKey[]
}

/** The last accepted checkpoint first, then the one whose proof is outstanding. */
async function seenCheckpoints(
  { checkpoint }: LogState,
  trouble: LogTrouble | undefined,
  keys: readonly PinnedKey[],
): Promise<readonly [Seen, ...Seen[]]> {
  const last = { note: checkpoint, opened: await open(checkpoint, keys) }
  const unproved = trouble?.unproved?.note
  if (unproved === undefined) return [last]
  // A note of a log that this agent does not follow any more does not verify.
  const opened = await open(unproved, keys).catch(() => undefined)
  return opened ? [last, { note: unproved, opened }] : [last]
}

async function newestCheckpoint(
  context: LogContext,
  known: readonly PinnedKey[],
  seen: readonly Seen[],
): Promise<Found | undefined> {
  const [largest] = seen.toSorted((left, right) => right.opened.size - left.opened.size)
  for (let attempt = 1; ; attempt++) {
    const note = await fetchCheckpoint(context)
    if (note === undefined && !largest) return undefined
    const keys = note === undefined ? known : await withRotatedKeys(context, known, note)
    const opened = note === undefined ? undefined : await open(note, keys)
    if (note !== undefined && opened && (!largest || opened.size >= largest.opened.size))
      return { note, opened, keys }
    if (attempt >= OLDER_ATTEMPTS) throw await rolledBack(context, largest as Seen, note, keys)
    await pause(OLDER_PAUSE_MS)
  }
}

async function open(note: string, keys: readonly PinnedKey[]): Promise<OpenedCheckpoint> {
  try {
    return await openCheckpoint(
      note,
      keys.map(({ key }) => key),
    )
  } catch (cause) {
    if (!(cause instanceof LogError)) throw cause
    throw new ExchangeError('log_unverifiable', {
      what: `The checkpoint of the exchange does not verify with the log key that this agent knows. ${cause.message}`,
      cause,
    })
  }
}

/** Shown less than before: the operator restored an old backup, or takes events back. */
async function rolledBack(
  context: AgentContext,
  last: Seen,
  note: string | undefined,
  keys: readonly PinnedKey[],
): Promise<ExchangeError> {
  const { size: seenSize } = last.opened
  if (note === undefined)
    return new ExchangeError('log_rolled_back', {
      what: `The exchange shows no checkpoint any more, although it signed one of size ${seenSize}.`,
      details: { seenSize },
    })
  const file = await context.log.keepSplitView(await splitViewOf(context, [last.note, note], keys))
  const { size } = await open(note, keys)
  return new ExchangeError('log_rolled_back', {
    what: `The exchange shows a log of size ${size}, although it signed one of size ${seenSize}: it was restored from an old backup, or events were taken back.`,
    details: { seenSize, shownSize: size, file },
  })
}

/** @param unproved the note whose proof is due where the tiles cannot be read */
async function requireContinuation(
  context: LogContext,
  last: Seen,
  { note, opened, keys }: Found,
  unproved = note,
): Promise<void> {
  const sizes = {
    oldSize: last.opened.size,
    oldRoot: last.opened.root,
    newSize: opened.size,
    newRoot: opened.root,
  }
  const readTile = tileReader(context, opened.size)
  let proof: Uint8Array[]
  try {
    proof = await proveConsistency(sizes.oldSize, sizes.newSize, readTile)
  } catch (error) {
    await holdUnproved(context, unproved, error)
    throw error
  }
  try {
    verifyConsistency({ ...sizes, proof })
    return
  } catch (error) {
    if (!(error instanceof LogError)) throw error
  }
  const fork = await forkOf(sizes, proof, readTile)
  const view: SplitView = {
    ...(await splitViewOf(context, [last.note, note], keys)),
    ...(fork && { fork }),
  }
  const file = await context.log.keepSplitView(view)
  throw new ExchangeError('log_split_view', {
    what:
      sizes.oldSize === sizes.newSize || fork
        ? `The operator of the exchange signed two histories of the log ${opened.origin} that exclude each other, of size ${sizes.oldSize} and of size ${sizes.newSize}.`
        : `The exchange does not prove that its log of size ${sizes.newSize} continues the one of size ${sizes.oldSize} that it signed before.`,
    details: { seenSize: sizes.oldSize, shownSize: sizes.newSize, file },
  })
}

/** The root that the new tree has at the old size: with its proof it convinces a third party. */
async function forkOf(
  sizes: Omit<Parameters<typeof verifyConsistency>[0], 'proof'>,
  proof: readonly Uint8Array[],
  readTile: ReturnType<typeof tileReader>,
): Promise<SplitView['fork']> {
  if (sizes.oldSize === sizes.newSize) return undefined
  try {
    const root = await rootFromTiles(sizes.oldSize, readTile)
    verifyConsistency({ ...sizes, oldRoot: root, proof })
    return { root: encodeBase64(root), consistency: proof.map(encodeBase64) }
  } catch (error) {
    // Without these tiles the notes alone are kept: the proof has failed already.
    if (error instanceof LogError || error instanceof ExchangeError) return undefined
    throw error
  }
}

export async function splitViewOf(
  context: AgentContext,
  [first, second]: readonly [string, string],
  keys: readonly PinnedKey[],
): Promise<SplitView> {
  return {
    format: SPLIT_VIEW_FORMAT,
    key: (await signerOfBoth(keys, [first, second]))?.text ?? keys[0]?.text ?? '',
    first,
    second,
    found_at: context.now().toISOString(),
  }
}

/** After a rotation, several keys sign; a third party needs the one that signed both notes. */
async function signerOfBoth(
  keys: readonly PinnedKey[],
  notes: readonly string[],
): Promise<PinnedKey | undefined> {
  const verifiers = keys.map(({ key }) => key)
  const signed = await Promise.all(notes.map((note) => openCheckpoint(note, verifiers)))
  return keys.find(({ key }) => signed.every(({ signatures }) => signatures.some((each) => each.key === key)))
}
