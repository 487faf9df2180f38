import { encodeBase64 } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { openCheckpoint, type OpenedCheckpoint } from '../notes/checkpoint.ts'
import { parseNote } from '../notes/note.ts'
import type { LogPolicy } from '../notes/policy.ts'
import { evaluateQuorum, type Witnessing } from '../notes/quorum.ts'
import { readHashes } from '../notes/tlog-proof.ts'
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../notes/verifier-key.ts'
import type { CapsuleLog } from './capsule-format.ts'
import { placeLeaf } from './place-leaf.ts'
import { isoTime, type CapsuleFindings, type CheckpointStory, type TimeBounds } from './capsule-result.ts'

/** The verified checkpoint of a capsule, to which all its proofs lead. */
export interface OpenedLog {
  readonly story: CheckpointStory
  readonly logKey: VerifierKey
  /** The index at which a proof places an entry; undefined, and a contradiction, where it does not hold. */
  place(entry: Uint8Array, proof: string, what: string): number | undefined
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
  findings: CapsuleFindings,
): Promise<OpenedLog | undefined> {
  try {
    const logKey = parseVerifierKey(log.key)
    const opened = await open(log.checkpoint, logKey, policy)
    sayCheckpoint(opened, findings)
    const history = await openHistory(log, opened, logKey, policy, findings)
    const sizes = [witnessedSize(opened), ...history]
    return {
      logKey,
      story: storyOf(log, opened, history),
      place: (entry, proof, what) => place(log.checkpoint, opened, { entry, proof, what }, findings),
      boundsOf: (index) => boundsOf(index, sizes),
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    findings.fail(error.code, `The checkpoint does not hold. ${error.message}`)
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

function sayCheckpoint(
  { origin, size, isPinned, witnessing: { counted, of, isMet } }: Opened,
  findings: CapsuleFindings,
): void {
  findings.hold('The log key of the capsule signed the checkpoint', `${origin}, size ${size}`)
  if (isPinned) findings.hold('A log key of the policy signed the checkpoint', origin)
  if (isMet) findings.hold('Witnesses met the quorum of the policy', `${counted} of ${of}`)
}

async function openHistory(
  { history = [] }: Omit<CapsuleLog, 'records'>,
  { origin, size: newSize, root: newRoot }: Opened,
  logKey: VerifierKey,
  policy: LogPolicy | undefined,
  findings: CapsuleFindings,
): Promise<WitnessedSize[]> {
  const sizes: WitnessedSize[] = []
  for (const { checkpoint, consistency } of history) {
    try {
      const earlier = await open(checkpoint, logKey, policy)
      const proof = readHashes(consistency)
      if (proof === undefined) throw new LogError('hash_invalid')
      verifyConsistency({ oldSize: earlier.size, oldRoot: earlier.root, newSize, newRoot, proof })
      if (earlier.origin !== origin)
        findings.fail('history_origin', 'An earlier checkpoint is one of another log.')
      else findings.hold('An earlier checkpoint leads to this one', `size ${earlier.size}`)
      sizes.push(witnessedSize(earlier))
    } catch (error) {
      if (!(error instanceof LogError)) throw error
      findings.fail(
        error.code,
        `An earlier checkpoint of the log does not lead to this one. ${error.message}`,
      )
    }
  }
  return sizes
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
    history: history.map(({ size: earlier, seenBy }) => ({
      size: earlier,
      ...(seenBy !== undefined && { seenBy: isoTime(seenBy) }),
    })),
    ignored: unknown.map(({ name, id, bytes }) => `${name}+${id} ${encodeBase64(bytes)}`),
  }
}

function place(
  checkpoint: string,
  { size, root }: Opened,
  { entry, proof: text, what }: { entry: Uint8Array; proof: string; what: string },
  findings: CapsuleFindings,
): number | undefined {
  const { index, fault } = placeLeaf(entry, text, { note: checkpoint, size, root })
  if (fault === 'checkpoint_differs')
    findings.fail(fault, `The proof of ${what} has another checkpoint than the capsule.`)
  else if (fault !== undefined)
    findings.fail(
      fault,
      `The log does not hold ${what} as the capsule shows it. ${new LogError(fault).message}`,
    )
  return index
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
