import type { LoggedRecord } from '@agent-exchange/protocol'
import {
  CAPSULE_FORMAT,
  formatVerifierKey,
  type Capsule,
  type EvidenceBundle,
  type RecordProof,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { EvidenceSubject } from './package-evidence.ts'
import { readEvidence } from './read-evidence.ts'
import { checkLog, type AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import { fetchRecords, tileReader } from '../log/log-answers.ts'
import {
  isIncluded,
  keyEventProofs,
  keyEventsOf,
  pendingOf,
  proofOf,
  type PendingLeaf,
} from './logged-leaves.ts'
import { readHistory } from './read-history.ts'
import { waitForLog, type Logged, type WaitForLog } from './wait-for-log.ts'

export interface EarlierCapsule {
  /** In format 1 where the exchange has no log, or has not published it yet. */
  readonly capsule: Capsule | EvidenceBundle
  readonly pending: readonly PendingLeaf[]
  /** False where the exchange publishes no log. */
  readonly hasLog: boolean
}

/**
 * AUD-01: collects the packages from before version 2 of the evidence, whose entries are in the chain of their thread,
 * with the proofs that records and key events are in the log: format 2.
 */
export async function readEarlierCapsule(
  context: AgentContext,
  subject: EvidenceSubject,
  wait: WaitForLog = {},
): Promise<EarlierCapsule> {
  const bundle = await readEvidence(context, subject)
  if (!(await hasLog(context))) return { capsule: bundle, pending: [], hasLog: false }
  const logged = await waitForLog(() => readLogged(context, bundle), wait)
  const { checkpoint, pending } = logged
  const capsule = checkpoint ? await capsuleOf(context, bundle, logged, checkpoint) : bundle
  return { capsule, pending, hasLog: true }
}

/** Also finds a split view before anything of the log is used. */
export async function hasLog(context: AgentContext): Promise<boolean> {
  try {
    await checkLog(context)
    return true
  } catch (error) {
    if (error instanceof ExchangeError && error.code === 'log_missing') return false
    throw error
  }
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
  const events = await keyEventsOf(context, new Set(bundle.keys.map(({ agent_id }) => agent_id)))
  // The newest checkpoint last: it then covers every index above.
  const checkpoint = await checkLog(context)
  const size = checkpoint?.size ?? 0
  return { records, events, checkpoint, pending: pendingOf(records, events, size) }
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
  const keyEvents = await keyEventProofs(events, checkpoint, readTile)
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
