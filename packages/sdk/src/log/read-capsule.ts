import {
  CAPSULE_FORMAT,
  formatProof,
  formatVerifierKey,
  parseProof,
  proveInclusion,
  type Capsule,
  type EvidenceBundle,
  type KeyEventProof,
  type ReadTile,
  type RecordProof,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { readEvidence, type EvidenceSubject } from '../evidence/read-evidence.ts'
import { pause } from '../pause-and-backoff.ts'
import { checkLog, type AcceptedCheckpoint } from './accept-checkpoint.ts'
import { readHistory } from './read-history.ts'
import {
  fetchKeyEvents,
  fetchRecords,
  tileReader,
  type LoggedKeyEvent,
  type LoggedRecord,
} from './log-answers.ts'

/** How long to wait for the log by default; the default profile promises inclusion within 60 s. */
const DEFAULT_WAIT_MS = 75_000
const POLL_MS = 1_000

export interface CapsuleOptions {
  /** How long to wait until the log includes everything; 0 takes what is there. */
  readonly waitMs?: number
  /** Called before each pause with what is still a promise. */
  readonly onWait?: (pending: readonly PendingLeaf[]) => void
  readonly signal?: AbortSignal
}

/** A record or a key event that the exchange accepted and the log does not include yet. */
export interface PendingLeaf {
  readonly what: 'record' | 'key_event'
  readonly packageId?: string
  readonly agentId?: string
  /** Position of the first entry, or number of the key event. */
  readonly number: number
}

export interface CollectedCapsule {
  /** Evidence of version 1 where the exchange has no log, or has not published it yet. */
  readonly capsule: Capsule | EvidenceBundle
  readonly pending: readonly PendingLeaf[]
  /** False where the exchange publishes no log. */
  readonly hasLog: boolean
}

/**
 * AUD-01: collects evidence with the proof that every record and key event is in the log. Waits for the log up to a
 * limit; what it does not include by then is named as a promise.
 *
 * @example
 * const { capsule, pending } = await readCapsule(context, { threadId: 'thread_1' })
 */
export async function readCapsule(
  context: AgentContext,
  subject: EvidenceSubject,
  { waitMs = DEFAULT_WAIT_MS, onWait, signal }: CapsuleOptions = {},
): Promise<CollectedCapsule> {
  const bundle = await readEvidence(context, subject)
  if (!(await hasLog(context))) return { capsule: bundle, pending: [], hasLog: false }
  const deadline = Date.now() + waitMs
  for (;;) {
    const logged = await readLogged(context, bundle)
    const isOver = Date.now() >= deadline || signal?.aborted === true
    if (logged.pending.length === 0 || isOver)
      return {
        capsule: logged.checkpoint ? await capsuleOf(context, bundle, logged, logged.checkpoint) : bundle,
        pending: logged.pending,
        hasLog: true,
      }
    onWait?.(logged.pending)
    await pause(POLL_MS, signal)
  }
}

/** Also finds a split view before anything of the log is used. */
async function hasLog(context: AgentContext): Promise<boolean> {
  try {
    await checkLog(context)
    return true
  } catch (error) {
    if (error instanceof ExchangeError && error.code === 'log_missing') return false
    throw error
  }
}

interface Logged {
  readonly records: readonly LoggedRecord[]
  readonly events: readonly (LoggedKeyEvent & { readonly agent_id: string })[]
  readonly pending: readonly PendingLeaf[]
  readonly checkpoint: AcceptedCheckpoint | undefined
}

async function readLogged(context: AgentContext, bundle: EvidenceBundle): Promise<Logged> {
  const positions = new Set(bundle.entries.map(({ position }) => position))
  const found: LoggedRecord[] = []
  for (const { metadata } of bundle.packages)
    found.push(...(await fetchRecords(context, { package_id: metadata.package_id })))
  // What was recorded after the evidence was read belongs to another capsule.
  const records = found.filter(
    (each) => positions.has(each.first_position) && positions.has(each.last_position),
  )
  const events: (LoggedKeyEvent & { readonly agent_id: string })[] = []
  for (const agentId of new Set(bundle.keys.map(({ agent_id }) => agent_id)))
    for (const event of await fetchKeyEvents(context, agentId)) events.push({ ...event, agent_id: agentId })
  // The newest checkpoint last: it then covers every index above.
  const checkpoint = await checkLog(context)
  const size = checkpoint?.size ?? 0
  return { records, events, checkpoint, pending: pendingOf(records, events, size) }
}

function pendingOf(records: Logged['records'], events: Logged['events'], size: number): PendingLeaf[] {
  return [
    ...records
      .filter((each) => !isIncluded(each, size))
      .map((each): PendingLeaf => ({
        what: 'record',
        packageId: each.package_id,
        number: each.first_position,
      })),
    ...events
      .filter((each) => !isIncluded(each, size))
      .map((each): PendingLeaf => ({ what: 'key_event', agentId: each.agent_id, number: each.number })),
  ]
}

type Included<T> = T & { readonly salt: string; readonly index: number }

function isIncluded<T extends LoggedRecord | LoggedKeyEvent>(leaf: T, size: number): leaf is Included<T> {
  return leaf.pending !== true && leaf.salt !== undefined && leaf.index !== undefined && leaf.index < size
}

async function capsuleOf(
  context: AgentContext,
  bundle: EvidenceBundle,
  { records, events }: Logged,
  checkpoint: AcceptedCheckpoint,
): Promise<Capsule> {
  const readTile = tileReader(context, checkpoint.size)
  const recordProofs: RecordProof[] = []
  for (const each of records)
    if (isIncluded(each, checkpoint.size)) {
      const { package_id, first_position, last_position, salt } = each
      const proof = await proofOf(each, checkpoint, readTile)
      recordProofs.push({ package_id, first_position, last_position, salt, proof })
    }
  const keyEvents: KeyEventProof[] = []
  for (const each of events)
    if (isIncluded(each, checkpoint.size)) {
      const { organization_id, agent_id, number, key_id, kind, use, thumbprint } = each
      const { valid_from, recorded_at, invalid_from, salt } = each
      const event = { organization_id, agent_id, number, key_id, kind, use, thumbprint, valid_from }
      const ending = { recorded_at, ...(invalid_from !== undefined && { invalid_from }), salt }
      keyEvents.push({ ...event, ...ending, proof: await proofOf(each, checkpoint, readTile) })
    }
  const [signature] = checkpoint.signatures
  if (!signature) throw new ExchangeError('log_unverifiable', { what: 'No known key signed the checkpoint.' })
  const { key } = signature
  const indexes = [...records, ...events].flatMap(({ index }) =>
    index === undefined || index >= checkpoint.size ? [] : [index],
  )
  const history = await readHistory(context, indexes, { checkpoint, key, readTile })
  return {
    ...bundle,
    format: CAPSULE_FORMAT,
    log: {
      key: formatVerifierKey(key),
      checkpoint: checkpoint.note,
      records: recordProofs,
      key_events: keyEvents,
      ...(history.length > 0 && { history }),
    },
  }
}

/** As the exchange gave it; made from tiles where that one leads to an earlier checkpoint. */
async function proofOf(
  { index, proof }: { readonly index: number; readonly proof?: string },
  { note, size }: AcceptedCheckpoint,
  readTile: ReadTile,
): Promise<string> {
  if (proof !== undefined && parseProof(proof).checkpoint === note) return proof
  return formatProof({ index, hashes: await proveInclusion(index, size, readTile), checkpoint: note })
}
