import { encodeBase64, sha256Digest } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { openCheckpoint, type OpenedCheckpoint } from '../notes/checkpoint.ts'
import { parseNote } from '../notes/note.ts'
import type { LogPolicy } from '../notes/policy.ts'
import { evaluateQuorum, type Witnessing } from '../notes/quorum.ts'
import { readHashes } from '../notes/tlog-proof.ts'
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../notes/verifier-key.ts'
import type { CapsuleLog } from './capsule-format.ts'
import type { Checks } from '../verdict/check.ts'
import { isoTime, type CheckpointStory, type TimeBounds } from './capsule-result.ts'
import { placeLeaf, type Placed, type VerifiedTree } from './place-leaf.ts'

/** The verified checkpoint of a capsule, to which all its proofs lead. */
export interface OpenedLog {
  readonly story: CheckpointStory
  readonly logKey: VerifierKey
  readonly tree: VerifiedTree
  /** The index at which a proof places an entry, or why it does not. */
  place(entry: Uint8Array, proof: string): Placed
  /** Between which times a leaf was added, as far as enough witnesses saw it. */
  boundsOf(index: number): TimeBounds
}

interface WitnessedSize extends Pick<Witnessing, 'seenBy' | 'newestAt'> {
  readonly size: number
}

/** Undefined where the checkpoint itself does not hold: then no proof does. */
export async function openLog(
  log: Omit<CapsuleLog, 'records'>,
  policy: LogPolicy | undefined,
  checks: Checks,
): Promise<OpenedLog | undefined> {
  try {
    const logKey = parseVerifierKey(log.key)
    const opened = await open(log.checkpoint, logKey, policy)
    const { origin, size } = opened
    checks.holds('log_checkpoint', { values: { origin, size, note: await noteDigest(log.checkpoint) } })
    judgeTrust(opened, policy, checks)
    const history = await openHistory(log, opened, logKey, policy, checks)
    const sizes = [witnessedSize(opened), ...history]
    const tree = { size: opened.size, root: opened.root, note: log.checkpoint }
    return {
      logKey,
      tree,
      story: storyOf(log, opened, history),
      place: (entry, proof) => placeLeaf(entry, proof, tree),
      boundsOf: (index) => boundsOf(index, sizes),
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    checks.fails('log_checkpoint', { values: { fault: error.code } })
    return undefined
  }
}

interface Opened extends OpenedCheckpoint {
  readonly isPinned: boolean
  readonly witnessing: Witnessing
}

const NO_WITNESSES: Witnessing = { cosignatures: [], counted: 0, of: 0, isMet: false }

/** The key of the capsule has to fit too; but only a key of the policy pins the log. */
async function open(text: string, logKey: VerifierKey, policy: LogPolicy | undefined): Promise<Opened> {
  const trusted = policy?.isConfirmed ? policy.logs.map(({ key }) => key) : []
  const witnesses = policy?.witnesses.map(({ key }) => key) ?? []
  const own = await openCheckpoint(text, [logKey])
  const all = await openCheckpoint(text, [logKey, ...trusted, ...witnesses])
  const isPinned = all.signatures.some(({ key }) => key.name === own.origin && trusted.includes(key))
  // What witnesses say of a log that the verifier does not know is of no use to it.
  const witnessing = policy && isPinned ? evaluateQuorum(policy, all.signatures) : NO_WITNESSES
  return { ...all, isPinned, witnessing }
}

/** Whom the verifier trusts confirms the checkpoint, or not. */
function judgeTrust(
  { origin, isPinned, witnessing: { counted, of, isMet } }: Opened,
  policy: LogPolicy | undefined,
  checks: Checks,
): void {
  if (!isPinned)
    return checks.unproved('log_pinned', {
      values: { origin, fault: policy ? 'note_unsigned' : 'no_policy' },
    })
  checks.holds('log_pinned', { values: { origin } })
  const fault = of === 0 ? 'no_witnesses_asked' : 'quorum_not_met'
  if (isMet && of > 0) checks.holds('log_quorum', { values: { cosigned: counted, of } })
  else checks.unproved('log_quorum', { values: { cosigned: counted, of, fault } })
}

async function openHistory(
  { history = [] }: Omit<CapsuleLog, 'records'>,
  { origin, size: newSize, root: newRoot }: Opened,
  logKey: VerifierKey,
  policy: LogPolicy | undefined,
  checks: Checks,
): Promise<WitnessedSize[]> {
  const sizes: WitnessedSize[] = []
  for (const { checkpoint, consistency } of history) {
    try {
      const earlier = await open(checkpoint, logKey, policy)
      const proof = readHashes(consistency)
      if (proof === undefined) throw new LogError('hash_invalid')
      verifyConsistency({ oldSize: earlier.size, oldRoot: earlier.root, newSize, newRoot, proof })
      const isSame = earlier.origin === origin
      const note = await noteDigest(checkpoint)
      const values = { size: earlier.size, note, ...(!isSame && { fault: 'other_log' as const }) }
      checks.check('log_history', isSame, { values })
      sizes.push(witnessedSize(earlier))
    } catch (error) {
      if (!(error instanceof LogError)) throw error
      checks.fails('log_history', { values: { fault: error.code } })
    }
  }
  return sizes
}

/** Nobody signs the order of signatures, or how often one is there: the digest makes it part of the verdict. */
function noteDigest(note: string): Promise<string> {
  return sha256Digest(new TextEncoder().encode(note))
}

function witnessedSize({ size, witnessing: { seenBy, newestAt } }: Opened): WitnessedSize {
  return { size, ...(seenBy !== undefined && { seenBy }), ...(newestAt !== undefined && { newestAt }) }
}

function storyOf(
  { checkpoint, key }: Omit<CapsuleLog, 'records'>,
  { origin, size, root, signatures, isPinned, witnessing }: Opened,
  history: readonly WitnessedSize[],
): CheckpointStory {
  const known = new Set(signatures.map((each) => `${each.key.name} ${each.key.id}`))
  const unknown = parseNote(checkpoint).signatures.filter(({ name, id }) => !known.has(`${name} ${id}`))
  return {
    origin,
    size,
    root: encodeBase64(root),
    key: formatVerifierKey(parseVerifierKey(key)),
    isPinned,
    witnesses: witnessing.cosignatures.map(({ witness, earliest }) => ({
      name: witness.name,
      at: isoTime(earliest),
    })),
    cosigned: witnessing.counted,
    of: witnessing.of,
    isQuorumMet: witnessing.isMet,
    ...(witnessing.seenBy !== undefined && { seenBy: isoTime(witnessing.seenBy) }),
    history: history.map(({ size: earlier, seenBy }) => ({
      size: earlier,
      ...(seenBy !== undefined && { seenBy: isoTime(seenBy) }),
    })),
    ignored: unknown.map(({ name, id, bytes }) => `${name}+${id} ${encodeBase64(bytes)}`),
  }
}

function boundsOf(index: number, sizes: readonly WitnessedSize[]): TimeBounds {
  const after = sizes.flatMap(({ size, newestAt }) =>
    size <= index && newestAt !== undefined ? [newestAt] : [],
  )
  const before = sizes.flatMap(({ size, seenBy }) => (size > index && seenBy !== undefined ? [seenBy] : []))
  return {
    ...(after.length > 0 && { after: isoTime(Math.max(...after)) }),
    ...(before.length > 0 && { before: isoTime(Math.min(...before)) }),
  }
}
