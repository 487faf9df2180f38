import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { EVIDENCE_FORMAT, MAXIMUM_DEPTH, type EvidenceBundle } from '../evidence/evidence-bundle.ts'
import type { EvidenceReport } from '../evidence/evidence-report.ts'
import { verifyEvidence, type VerifyEvidenceOptions } from '../evidence/verify-evidence.ts'
import type { LogPolicy } from '../notes/policy.ts'
import { Checks, VerdictReached, type Check, type CheckValues } from '../verdict/check.ts'
import type { CheckCode } from '../verdict/check-codes.ts'
import { CAPSULE_FORMAT, DEFAULT_CAPSULE_BYTES, type Capsule } from './capsule-format.ts'
import type { CapsuleLevel, CapsuleResult } from './capsule-result.ts'
import { capsuleV2Faults } from './capsule-shape.ts'
import { CAPSULE_V3_FORMAT, type CapsuleV3 } from './capsule-v3-format.ts'
import { capsuleV3Faults } from './capsule-v3-shape.ts'
import { conclude, unreadable } from './conclude.ts'
import { openLog } from './open-log.ts'
import { openChains, statedEnds, verifySignedEntries } from './signed-entries.ts'
import { verifyKeyLeaves } from './verify-key-leaves.ts'
import { disclosedEnvelopes, verifyDisclosures } from './verify-disclosures.ts'
import { verifyKeyOrder } from './verify-key-order.ts'
import { verifyKeyRecords } from './verify-key-records.ts'
import { verifyRecordLeaves, type EntryIndexes } from './verify-record-leaves.ts'
import { verifyRecordedTimes, type RecordedLeaf } from './verify-recorded-times.ts'

export interface VerifyCapsuleOptions extends VerifyEvidenceOptions {
  /** Whom the verifier trusts. It never comes from the capsule. */
  readonly policy?: LogPolicy
  /** What the capsule has to prove at least; defaults to `log-signed`. */
  readonly require?: Exclude<CapsuleLevel, 'signed-only'>
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
  if (bytes.length > maximumBytes) return unreadable([{ fault: 'too_large', bytes: maximumBytes }], options)
  try {
    return await verifyCapsule(parseStrictJson(bytes, { maxDepth: MAXIMUM_DEPTH }), options)
  } catch (error) {
    if (error instanceof CryptoError) return unreadable([{ fault: 'not_json', reason: error.code }], options)
    throw error
  }
}

/**
 * Verifies a capsule, or evidence of version 1, without the exchange and without network. Never throws over what it
 * holds.
 *
 * @example
 * const { exitCode, word } = await verifyCapsule(capsule, { policy: parsePolicy(text), require: 'witnessed' })
 */
export async function verifyCapsule(
  value: unknown,
  options: VerifyCapsuleOptions = {},
): Promise<CapsuleResult> {
  const format: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'format') : undefined
  if (format === EVIDENCE_FORMAT) return verifyVersion1(value as EvidenceBundle, options)
  if (format === CAPSULE_V3_FORMAT) return verifyVersion3(value, options)
  if (format !== CAPSULE_FORMAT) return unreadable([{ fault: 'unknown_format' }], options)
  const faults = capsuleV2Faults(value)
  return faults.length > 0 ? unreadable(faults, options) : verifyVersion2(value as Capsule, options)
}

async function verifyVersion1(bundle: EvidenceBundle, options: VerifyCapsuleOptions): Promise<CapsuleResult> {
  const report = await verifyEvidence(bundle, options)
  const malformed = report.checks.filter(
    ({ code, result }) => code === 'capsule_readable' && result === 'fails',
  )
  if (malformed.length > 0)
    return unreadable(
      malformed.flatMap(({ values }) => (values ? [values] : [])),
      options,
    )
  const checks = new Checks()
  checks.unproved('format_bound', { values: { version: 1 } })
  return conclude({ bundle, report, checks: [...checks.all, ...report.checks], version: 1 }, options)
}

/** What a chain alone leaves open, and a log answers. */
const ANSWERED_BY_LOG: ReadonlySet<CheckCode> = new Set(['thread_rewritten'])

async function verifyVersion2(capsule: Capsule, options: VerifyCapsuleOptions): Promise<CapsuleResult> {
  const { log: _, ...rest } = capsule
  const bundle = { ...rest, format: EVIDENCE_FORMAT } as const
  const found = await verifyEvidence(bundle, options)
  const report = without(found, ANSWERED_BY_LOG)
  const checks = new Checks()
  checks.unproved('format_bound', { values: { version: 2 } })
  const base = { bundle, report, version: 2 } as const
  const all = () => [...checks.all, ...report.checks]
  try {
    const log = await openLog(capsule.log, options.policy, checks)
    if (!log) return conclude({ ...base, checks: all() }, options)
    const indexes = verifyRecordLeaves(capsule, log, checks)
    verifyRecordedTimes(recordedIn(capsule, indexes), { log, mayPrecedeLog: true }, checks)
    const logged = verifyKeyLeaves(capsule, log, checks)
    await verifyKeyRecords(capsule, logged, checks)
    const leafOf = ({ position }: Check) => (position === undefined ? undefined : indexes.get(position))
    verifyKeyOrder(report.checks, { leafOf, logged, log }, checks)
    checks.unproved('later_events')
    return conclude({ ...base, checks: all(), log, logged }, options)
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
    return conclude({ ...base, checks: all() }, options)
  }
}

function recordedIn({ entries }: Capsule, indexes: EntryIndexes): RecordedLeaf[] {
  return entries.flatMap(({ position, proof }): RecordedLeaf[] => {
    const index = indexes.get(position)
    return index === undefined ? [] : [{ about: { position }, recordedAt: proof.recorded_at, index }]
  })
}

function without(report: EvidenceReport, codes: ReadonlySet<CheckCode>): EvidenceReport {
  return { ...report, checks: report.checks.filter(({ code }) => !codes.has(code)) }
}

async function verifyVersion3(value: unknown, options: VerifyCapsuleOptions): Promise<CapsuleResult> {
  const faults: CheckValues[] = capsuleV3Faults(value)
  if (faults.length > 0) return unreadable(faults, options)
  const capsule = value as CapsuleV3
  const opened = await openChains(capsule, options)
  const { chains, bundle, recorded } = opened
  const { log } = chains
  const report = await verifySignedEntries(opened, {
    ...options,
    contents: { ...options.contents, ...disclosedEnvelopes(capsule) },
  })
  const checks = new Checks()
  const base = { bundle, report, version: 3, ends: statedEnds(capsule) } as const
  const all = () => [...chains.checks, ...checks.all, ...report.checks]
  if (!log) return conclude({ ...base, checks: all() }, options)
  try {
    verifyRecordedTimes(recorded, { log }, checks)
    const leafOf = ({ package_id = '', position }: Check) =>
      position === undefined ? undefined : chains.leaves.get(package_id)?.get(position)
    verifyKeyOrder(report.checks, { leafOf, logged: chains.keyEvents, log }, checks)
    for (const [agent_id, own] of Map.groupBy(chains.keyEvents, ({ event }) => event.agent_id))
      checks.unproved('later_key_events', { agent_id, values: { last: own.length } })
    checks.unproved('later_events')
    const { profile = DEFAULT_PROFILE } = options
    const verified = { keys: chains.keys, signed: report.checks, profile }
    const disclosed = await verifyDisclosures(capsule, verified, checks)
    return conclude({ ...base, checks: all(), log, logged: chains.keyEvents, disclosed }, options)
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
    return conclude({ ...base, checks: all() }, options)
  }
}
