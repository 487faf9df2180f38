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
import { fetchCheckpoint, tileReader } from './log-answers.ts'
import { knownKeys, withRotatedKeys, type PinnedKey } from './log-keys.ts'
import type { LogState } from './log-state.ts'

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
export async function checkLog(context: AgentContext): Promise<AcceptedCheckpoint | undefined> {
  for (let attempt = 1; attempt <= STORE_ATTEMPTS; attempt++) {
    const state = await context.log.read()
    const found = await newestCheckpoint(context, await knownKeys(context, state), state)
    if (!found) return undefined
    const { note, opened, last, keys } = found
    if (state && last) await requireContinuation(context, { state, last, note, opened, keys })
    const isNewer = !last || opened.size > last.size || note !== state?.checkpoint
    const next: LogState = { keys: keys.map(({ text }) => text), checkpoint: note }
    if (!isNewer || (await context.log.replace(state, next)))
      return { ...opened, note, keys: keys.map(({ key }) => key) }
  }
  throw new ExchangeError('timed_out', {
    what: 'Other processes of this agent keep changing its state of the log.',
    retryable: true,
  })
}

interface Found {
  readonly note: string
  readonly opened: OpenedCheckpoint
  readonly last: OpenedCheckpoint | undefined
  readonly keys: readonly PinnedKey[]
}

async function newestCheckpoint(
  context: AgentContext,
  known: readonly PinnedKey[],
  state: LogState | undefined,
): Promise<Found | undefined> {
  const last = state && (await open(state.checkpoint, known))
  for (let attempt = 1; ; attempt++) {
    const note = await fetchCheckpoint(context)
    if (note === undefined && !state) return undefined
    const keys = note === undefined ? known : await withRotatedKeys(context, known, note)
    const opened = note === undefined ? undefined : await open(note, keys)
    if (note !== undefined && opened && (!last || opened.size >= last.size))
      return { note, opened, last, keys }
    if (attempt >= OLDER_ATTEMPTS) throw await rolledBack(context, state as LogState, last?.size, note, keys)
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
  state: LogState,
  lastSize = 0,
  note: string | undefined,
  keys: readonly PinnedKey[],
): Promise<ExchangeError> {
  if (note === undefined)
    return new ExchangeError('log_rolled_back', {
      what: `The exchange shows no checkpoint any more, although it signed one of size ${lastSize}.`,
      details: { seenSize: lastSize },
    })
  const view = await viewOf(context, state, note, keys)
  const file = await context.log.keepSplitView(view)
  const { size } = await open(note, keys)
  return new ExchangeError('log_rolled_back', {
    what: `The exchange shows a log of size ${size}, although it signed one of size ${lastSize}: it was restored from an old backup, or events were taken back.`,
    details: { seenSize: lastSize, shownSize: size, file },
  })
}

async function requireContinuation(
  context: AgentContext,
  {
    state,
    last,
    note,
    opened,
    keys,
  }: {
    readonly state: LogState
    readonly last: OpenedCheckpoint
    readonly note: string
    readonly opened: OpenedCheckpoint
    readonly keys: readonly PinnedKey[]
  },
): Promise<void> {
  const sizes = {
    oldSize: last.size,
    oldRoot: last.root,
    newSize: opened.size,
    newRoot: opened.root,
  }
  const readTile = tileReader(context, opened.size)
  const proof = await proveConsistency(last.size, opened.size, readTile)
  try {
    verifyConsistency({ ...sizes, proof })
    return
  } catch (error) {
    if (!(error instanceof LogError)) throw error
  }
  const fork = await forkOf(sizes, proof, readTile)
  const view: SplitView = { ...(await viewOf(context, state, note, keys)), ...(fork && { fork }) }
  const file = await context.log.keepSplitView(view)
  throw new ExchangeError('log_split_view', {
    what:
      last.size === opened.size || fork
        ? `The operator of the exchange signed two histories of the log ${opened.origin} that exclude each other, of size ${last.size} and of size ${opened.size}.`
        : `The exchange does not prove that its log of size ${opened.size} continues the one of size ${last.size} that it signed before.`,
    details: { seenSize: last.size, shownSize: opened.size, file },
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
    if (error instanceof LogError) return undefined
    throw error
  }
}

async function viewOf(
  context: AgentContext,
  state: LogState,
  note: string,
  keys: readonly PinnedKey[],
): Promise<SplitView> {
  return {
    format: SPLIT_VIEW_FORMAT,
    key: (await signerOfBoth(keys, [state.checkpoint, note]))?.text ?? keys[0]?.text ?? '',
    first: state.checkpoint,
    second: note,
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
