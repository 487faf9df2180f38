import { DEFAULT_PROFILE, type DeploymentProfile, type PolicyEnvelope } from '@agent-exchange/protocol'
import { isReadable } from './bundle-shape.ts'
import { Claims } from './claims.ts'
import type { EvidenceBundle } from './evidence-bundle.ts'
import { Checks, VerdictReached } from '../verdict/check.ts'
import { reportOf, type EvidenceReport, type ProvedState } from './evidence-report.ts'
import { assignEntries, sayUnlinkedEntries } from './assign-entries.ts'
import { createKeyRing, sayKeyRecords, verifyFingerprints } from './key-ring.ts'
import type { PackageCase, ProvedPackage } from './package-case.ts'
import { SignatureRegister } from './signature-register.ts'
import { acceptanceOf, verifyAcceptance } from './verify-acceptance.ts'
import { verifyChain, type ChainAnchor, type EntryClaims } from './verify-chain.ts'
import { verifyEntries } from './verify-entries.ts'
import { verifyMetadata } from './verify-metadata.ts'
import { verifySendersPolicyReceipt } from './verify-policy-receipt.ts'
import { verifyAnswers } from './verify-response-entry.ts'

export interface VerifyEvidenceOptions {
  /** RFC 7638 fingerprints of agents' signing keys that were learned elsewhere, by agent id. */
  readonly fingerprints?: Readonly<Record<string, readonly string[]>>
  /** Envelopes as they were downloaded, by package id. */
  readonly contents?: Readonly<Record<string, Uint8Array>>
  /** Policies as they were evaluated. */
  readonly policies?: readonly PolicyEnvelope[]
  /** Places in the chain that were seen before. */
  readonly anchors?: readonly ChainAnchor[]
  readonly profile?: DeploymentProfile
}

/**
 * Verifies evidence without the exchange. Every claim in it rests on a verified signature, or is reported as the
 * exchange's word with its value, or makes the evidence broken. What cannot be known from the evidence alone is
 * said too, and why. Never throws over what evidence holds.
 *
 * @example
 * const report = await verifyEvidence(evidence, { fingerprints: { agent_cars: [known] } })
 * console.log(report.verdict)
 * for (const { code, value } of report.exchangeClaims) console.log('only the exchange says', code, value)
 */
export async function verifyEvidence(
  evidence: EvidenceBundle,
  options: VerifyEvidenceOptions = {},
): Promise<EvidenceReport> {
  const [checks, states]: [Checks, ProvedState[]] = [new Checks(), []]
  try {
    if (!isReadable(evidence, checks)) return reportOf(checks, states)
    const entries = evidence.entries.map((entry) => new Claims(entry))
    await verifyChain(evidence, entries, options.anchors ?? [], checks)
    await verifyStatements(evidence, entries, options, { checks, states })
    const last = evidence.entries.at(-1)
    return reportOf(checks, states, last && { position: last.position, hash: last.proof.hash })
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
    return reportOf(checks, states)
  }
}

/** Everything in the entries that rests on a signature, whatever chain they are in. */
export async function verifyStatements(
  evidence: EvidenceBundle,
  entries: readonly EntryClaims[],
  options: VerifyEvidenceOptions,
  { checks, states }: Pick<PackageCase, 'checks' | 'states'>,
): Promise<void> {
  const { fingerprints = {} } = options
  const ring = await createKeyRing(evidence, checks)
  const cases = assignEntries(evidence, entries, checks).map((assigned) =>
    caseOf({ ...assigned, ring, checks, states }, options),
  )
  const proved = new Map<string, ProvedPackage>()
  for (const subject of cases) proved.set(subject.packageId, await prove(subject))
  const register = new SignatureRegister()
  const followed = cases.map((subject) => ({ ...subject, proved, register }))
  for (const subject of followed) {
    await verifyEntries(subject)
    sayDeliveries(subject)
  }
  verifyAnswers(followed)
  sayUnlinkedEntries(evidence, checks)
  sayKeyRecords(ring, checks)
  verifyFingerprints(ring, fingerprints, checks)
  for (const code of ['revocation_time', 'statement_times', 'truth'] as const) checks.unproved(code)
}

function caseOf(
  assigned: Pick<PackageCase, 'record' | 'entries' | 'ring' | 'checks' | 'states'>,
  { contents = {}, policies = [], profile = DEFAULT_PROFILE }: VerifyEvidenceOptions,
): PackageCase {
  const { metadata } = assigned.record
  const { package_id: packageId } = metadata
  const content = Object.hasOwn(contents, packageId) ? contents[packageId] : undefined
  const platformAgentId = profile['O-42'].agent_id
  return { ...assigned, metadata, packageId, content, policies, profile, platformAgentId }
}

/** The statements that make a package: policy receipt, acceptance, metadata. */
async function prove(subject: PackageCase): Promise<ProvedPackage> {
  const { metadata } = subject
  const isAccepted = await verifyAcceptance(subject)
  const isFromSender = await verifySendersPolicyReceipt(subject)
  const isMetadataSigned = await verifyMetadata(subject)
  const acceptance = acceptanceOf(subject.entries)?.at('proof/acceptance')
  return { metadata, isAccepted, acceptance, isFromSender, isMetadataSigned }
}

/** Notifications prove nothing about the package; that they were tried is the exchange's word. */
function sayDeliveries({ record, checks, packageId }: PackageCase): void {
  for (const attempt of record.delivery_attempts ?? [])
    checks.claim('delivery_attempt', attempt, { package_id: packageId })
}
