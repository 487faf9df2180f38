import { DEFAULT_PROFILE, type DeploymentProfile, type PolicyEnvelope } from '@agent-exchange/protocol'
import { isReadable } from './bundle-shape.ts'
import { Claims } from './claims.ts'
import type { EvidenceBundle } from './evidence-bundle.ts'
import { createFindings, VerdictReached, type EvidenceReport, type Findings } from './evidence-report.ts'
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
 * const { verdict, summary, exchangeWord } = await verifyEvidence(evidence, { fingerprints: { agent_cars: [known] } })
 * console.log(summary)
 * for (const { what, value } of exchangeWord) console.log('only the exchange says', what, value)
 */
export async function verifyEvidence(
  evidence: EvidenceBundle,
  options: VerifyEvidenceOptions = {},
): Promise<EvidenceReport> {
  const findings = createFindings()
  try {
    return await verifyInOrder(evidence, options, findings)
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
    return findings.report(undefined)
  }
}

async function verifyInOrder(
  evidence: EvidenceBundle,
  options: VerifyEvidenceOptions,
  findings: Findings,
): Promise<EvidenceReport> {
  const { anchors = [] } = options
  if (!isReadable(evidence, findings)) return findings.report(undefined)
  const entries = evidence.entries.map((entry) => new Claims(entry))
  await verifyChain(evidence, entries, anchors, findings)
  await verifyStatements(evidence, entries, options, findings)
  const last = evidence.entries.at(-1)
  return findings.report(last && { position: last.position, hash: last.proof.hash })
}

/** Everything in the entries that rests on a signature, whatever chain they are in. */
export async function verifyStatements(
  evidence: EvidenceBundle,
  entries: readonly EntryClaims[],
  options: VerifyEvidenceOptions,
  findings: Findings,
): Promise<void> {
  const { fingerprints = {} } = options
  const ring = await createKeyRing(evidence, findings)
  const cases = assignEntries(evidence, entries, findings).map((assigned) =>
    caseOf({ ...assigned, ring, findings }, options),
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
  sayUnlinkedEntries(evidence, findings)
  sayKeyRecords(ring, findings)
  verifyFingerprints(ring, fingerprints, findings)
  sayWhatStaysOpen(findings)
}

function caseOf(
  assigned: Pick<PackageCase, 'record' | 'entries' | 'ring' | 'findings'>,
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
function sayDeliveries({ record, findings, packageId }: PackageCase): void {
  for (const attempt of record.delivery_attempts ?? [])
    findings.word('an attempt to deliver a notification', attempt, { packageId })
}

function sayWhatStaysOpen(findings: Findings): void {
  findings.unverifiable(
    'when a key was revoked',
    'The exchange records it and signs no statement of it; compare with the key’s owner.',
  )
  findings.unverifiable(
    'the times of receipts and revocations',
    'They are the signer’s claim and the exchange’s record; only acceptance is signed by the platform.',
  )
  findings.unverifiable('whether what was said is true', 'A signature proves who said it, not that it is so.')
}
