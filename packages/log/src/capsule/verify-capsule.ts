import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import { EVIDENCE_FORMAT, MAXIMUM_DEPTH, type EvidenceBundle } from '../evidence/evidence-bundle.ts'
import { VerdictReached, type EvidenceReport } from '../evidence/evidence-report.ts'
import { REWRITTEN_CHAIN } from '../evidence/verify-chain.ts'
import { verifyEvidence, type VerifyEvidenceOptions } from '../evidence/verify-evidence.ts'
import type { LogPolicy } from '../notes/policy.ts'
import { CAPSULE_FORMAT, DEFAULT_CAPSULE_BYTES, type Capsule } from './capsule-format.ts'
import {
  CAPSULE_LEVELS,
  CapsuleFindings,
  type CapsuleLevel,
  type CapsuleResult,
  type Fingerprint,
  type KeyStory,
  type ShownKeyEvents,
} from './capsule-result.ts'
import { shapeFaults } from './capsule-shape.ts'
import { CAPSULE_V3_FORMAT, type CapsuleV3 } from './capsule-v3-format.ts'
import { capsuleV3Faults } from './capsule-v3-shape.ts'
import { takeChains } from './chain-sentences.ts'
import { openChains, statedEnd, verifySignedEntries } from './signed-entries.ts'
import { openLog, type OpenedLog } from './open-log.ts'
import { packageStories } from './package-story.ts'
import { contradictionSentence, unreadableSentence, verdictSentence } from './verdict-sentence.ts'
import { eventsByKey, verifyKeyLeaves, type LoggedKeyEvent } from './verify-key-leaves.ts'
import { verifyKeyOrder } from './verify-key-order.ts'
import { verifyKeyRecords } from './verify-key-records.ts'
import { verifyRecordLeaves } from './verify-record-leaves.ts'
import { verifyRecordedTimes } from './verify-recorded-times.ts'

export interface VerifyCapsuleOptions extends VerifyEvidenceOptions {
  /** Whom the verifier trusts. It never comes from the capsule. */
  readonly policy?: LogPolicy
  /** What the capsule has to prove at least; defaults to `log-signed`. */
  readonly require?: Exclude<CapsuleLevel, 'exchange-word'>
  /** Whether a doubt, such as a key that was already stolen, counts as below what was required. */
  readonly strict?: boolean
}

export interface VerifyFileOptions extends VerifyCapsuleOptions {
  /** Defaults to 32 MiB. */
  readonly maximumBytes?: number
}

/** The same for the bytes of a file. */
export async function verifyCapsuleFile(
  bytes: Uint8Array,
  { maximumBytes = DEFAULT_CAPSULE_BYTES, ...options }: VerifyFileOptions = {},
): Promise<CapsuleResult> {
  if (bytes.length > maximumBytes) return unreadable([`it is larger than ${maximumBytes} bytes`], options)
  try {
    return await verifyCapsule(parseStrictJson(bytes, { maxDepth: MAXIMUM_DEPTH }), options)
  } catch (error) {
    if (error instanceof CryptoError) return unreadable([error.message], options)
    throw error
  }
}

/**
 * Verifies a capsule, or evidence of version 1, without the exchange and without network. Never throws over what it
 * holds.
 *
 * @example
 * const { exitCode, sentence } = await verifyCapsule(capsule, { policy: parsePolicy(text), require: 'witnessed' })
 */
export async function verifyCapsule(
  value: unknown,
  options: VerifyCapsuleOptions = {},
): Promise<CapsuleResult> {
  const format: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'format') : undefined
  if (format === EVIDENCE_FORMAT) return verifyVersion1(value as EvidenceBundle, options)
  if (format === CAPSULE_V3_FORMAT) return verifyVersion3(value, options)
  if (format !== CAPSULE_FORMAT) return unreadable(['its format is unknown'], options)
  const faults = shapeFaults(value)
  if (faults.length > 0) return unreadable(faults, options)
  return verifyVersion2(value as Capsule, options)
}

async function verifyVersion1(bundle: EvidenceBundle, options: VerifyCapsuleOptions): Promise<CapsuleResult> {
  const report = await verifyEvidence(bundle, options)
  const malformed = report.checks.filter(({ what, ok }) => !ok && what === 'the evidence is well formed')
  if (malformed.length > 0)
    return unreadable(
      malformed.map(({ detail }) => detail),
      options,
    )
  const findings = new CapsuleFindings()
  takeOver(report, findings)
  findings.leaveToExchange(
    'whether the recorded events are in a log',
    'Evidence of version 1 holds no proof of it. Collect the capsule again.',
  )
  return conclude(bundle, { report, findings, options, version: 1 })
}

async function verifyVersion2(capsule: Capsule, options: VerifyCapsuleOptions): Promise<CapsuleResult> {
  const { log: _, ...rest } = capsule
  const report = await verifyEvidence({ ...rest, format: EVIDENCE_FORMAT }, options)
  const findings = new CapsuleFindings()
  try {
    const log = await openLog(capsule.log, options.policy, findings)
    takeOver(report, findings)
    if (!log) return conclude(capsule, { report, findings, options, version: 2 })
    const indexes = verifyRecordLeaves(capsule, log, findings)
    const logged = verifyKeyLeaves(capsule, log, findings)
    await verifyKeyRecords(capsule, logged, findings)
    verifyKeyOrder(report, { indexes, logged, log }, findings)
    sayWhatIsOpen(log, options, findings)
    return conclude(capsule, { report, findings, options, version: 2, log, logged })
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
    return conclude(capsule, { report, findings, options, version: 2 })
  }
}

async function verifyVersion3(value: unknown, options: VerifyCapsuleOptions): Promise<CapsuleResult> {
  const faults = capsuleV3Faults(value)
  if (faults.length > 0) return unreadable(faults, options)
  const capsule = value as CapsuleV3
  const findings = new CapsuleFindings()
  const { chains, bundle, leaves } = await openChains(capsule, options)
  const report = await verifySignedEntries(bundle, options)
  try {
    takeChains(chains.checks, findings)
    const log = await openLog(capsule.log, options.policy, findings)
    takeOver(report, findings)
    const completeUpTo = statedEnd(capsule)
    if (!log) return conclude(bundle, { report, findings, options, version: 3 })
    const logged = [...chains.keyEvents]
    verifyRecordedTimes(bundle.entries, { leaves, log }, findings)
    verifyKeyOrder(report, { indexes: leaves, logged, log }, findings)
    sayWhatIsOpen(log, options, findings, completeUpTo)
    return conclude(bundle, { report, findings, options, version: 3, log, logged, completeUpTo })
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
    return conclude(bundle, { report, findings, options, version: 3 })
  }
}

function takeOver(report: EvidenceReport, findings: CapsuleFindings): void {
  for (const { ok, doubt, what, detail, packageId, position } of report.checks) {
    const about = {
      ...(packageId !== undefined && { packageId }),
      ...(position !== undefined && { position }),
    }
    if (!ok) findings.contradict('evidence_broken', `“${what}” does not hold: ${detail}.`, about)
    else if (doubt) findings.doubt(what, detail)
  }
  for (const { what, why, packageId } of report.unverifiable)
    if (what !== REWRITTEN_CHAIN)
      findings.leaveOpen(packageId === undefined ? what : `${what} (${packageId})`, why)
}

function sayWhatIsOpen(
  { story: { isPinned, isQuorumMet, cosigned, of, origin } }: OpenedLog,
  { policy }: VerifyCapsuleOptions,
  findings: CapsuleFindings,
  completeUpTo?: string,
): void {
  findings.leaveOpen(
    completeUpTo === undefined
      ? 'whether later events of the thread exist'
      : `whether events were recorded after ${completeUpTo}`,
    'Inclusion is not completeness. Scan the log for the labels of the packages, or compare with the other party.',
  )
  if (!isPinned)
    findings.leaveOpen(
      `whether ${origin} is the log that you know`,
      policy
        ? 'No log key of the policy signed the checkpoint.'
        : 'No policy was given. Compare the fingerprints with what the operator publishes.',
    )
  else if (!isQuorumMet)
    findings.leaveOpen(
      'whether everybody sees the same log, and when it was so',
      of === 0
        ? 'The policy asks for no witness.'
        : `${cosigned} of ${of} witnesses cosigned, which is not the quorum of the policy.`,
    )
}

interface Conclusion {
  readonly report: EvidenceReport
  readonly findings: CapsuleFindings
  readonly options: VerifyCapsuleOptions
  readonly version: 1 | 2 | 3
  readonly completeUpTo?: string | undefined
  readonly log?: OpenedLog
  readonly logged?: readonly LoggedKeyEvent[]
}

function conclude(
  bundle: Omit<EvidenceBundle, 'format'>,
  { report, findings, options, version, log, logged = [], completeUpTo }: Conclusion,
): CapsuleResult {
  const { contradictions, proved, unproved, doubts, logChecks } = findings
  const { require: required = 'log-signed', strict: isStrict = false } = options
  const isContradicted = contradictions.length > 0
  const level = levelOf(findings, log)
  const isReached = CAPSULE_LEVELS.indexOf(level) >= CAPSULE_LEVELS.indexOf(required)
  const isEnough = isReached && !(isStrict && doubts.length > 0)
  const seenBy = log?.boundsOf(log.story.size - 1).before
  const verdict = {
    level,
    threadId: bundle.thread_id,
    entries: bundle.entries.length,
    checkpoint: log?.story,
    seenBy,
    completeUpTo,
    lowered: unproved.filter(({ lowersLevel }) => lowersLevel),
    doubts,
  }
  return {
    outcome: isContradicted ? 'contradiction' : isEnough ? 'meets' : 'below',
    exitCode: isContradicted ? 1 : isEnough ? 0 : 3,
    level: isContradicted ? undefined : level,
    required,
    isStrict,
    sentence: isContradicted ? contradictionSentence(contradictions) : verdictSentence(verdict),
    version,
    ...(completeUpTo !== undefined && { completeUpTo }),
    threadId: bundle.thread_id,
    contradictions,
    proved,
    unproved,
    doubts,
    shownKeyEvents: log ? shownKeyEvents(report, logged) : [],
    logChecks,
    fingerprints: fingerprintsOf(report, log),
    packages: packageStories(bundle, report),
    keys: keyStories(logged, log),
    checkpoint: log?.story,
    evidence: report,
  }
}

/** The least that holds for every entry and key: one that no log proves makes the whole the exchange's word. */
function levelOf({ unproved }: CapsuleFindings, log: OpenedLog | undefined): CapsuleLevel {
  if (!log || unproved.some(({ lowersLevel }) => lowersLevel)) return 'exchange-word'
  if (!log.story.isPinned) return 'unpinned'
  return log.story.isQuorumMet ? 'witnessed' : 'log-signed'
}

/** How far the capsule shows the key events of each agent that signed. */
function shownKeyEvents({ checks }: EvidenceReport, logged: readonly LoggedKeyEvent[]): ShownKeyEvents[] {
  const last = new Map<string, number>()
  for (const { signedBy, acceptedKey } of checks)
    for (const signer of [signedBy, acceptedKey]) if (signer) last.set(signer.agentId, 0)
  for (const { event } of logged) {
    const through = last.get(event.agent_id)
    if (through !== undefined) last.set(event.agent_id, Math.max(through, event.number))
  }
  return [...last].map(([agentId, through]) => ({ agentId, through }))
}

function fingerprintsOf({ exchangeWord }: EvidenceReport, log: OpenedLog | undefined): Fingerprint[] {
  const keys = exchangeWord.flatMap(({ what, value }): Fingerprint[] => {
    if (what !== 'the record of a signing key') return []
    const record = value as { fingerprint: string; agent_id: string; key: { key_id: string } }
    return [{ of: `signing key ${record.key.key_id} of ${record.agent_id}`, value: record.fingerprint }]
  })
  return log ? [{ of: `log ${log.story.origin}`, value: log.story.key }, ...keys] : keys
}

function keyStories(logged: readonly LoggedKeyEvent[], log: OpenedLog | undefined): KeyStory[] {
  return [...eventsByKey(logged).values()].flatMap((own): KeyStory[] => {
    const [first] = own
    if (!first || !log) return []
    const { agent_id: agentId, organization_id: organizationId, key_id: keyId, thumbprint } = first.event
    const events = own.map(({ event, index }) => ({
      kind: event.kind,
      number: event.number,
      index,
      recordedAt: event.recorded_at,
      ...(event.invalid_from !== undefined && { invalidFrom: event.invalid_from }),
      ...log.boundsOf(index),
    }))
    return [{ agentId, organizationId, keyId, thumbprint, events }]
  })
}

function unreadable(
  faults: readonly string[],
  { require = 'log-signed', strict = false }: VerifyCapsuleOptions,
): CapsuleResult {
  return {
    outcome: 'unreadable',
    exitCode: 2,
    level: undefined,
    required: require,
    isStrict: strict,
    sentence: unreadableSentence(faults),
    version: undefined,
    threadId: undefined,
    contradictions: [],
    proved: [],
    unproved: faults.map((why) => ({ what: 'anything', why })),
    doubts: [],
    shownKeyEvents: [],
    logChecks: [],
    fingerprints: [],
    packages: [],
    keys: [],
    checkpoint: undefined,
    evidence: undefined,
  }
}
