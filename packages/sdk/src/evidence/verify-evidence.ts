import {
  DEFAULT_PROFILE,
  keyDirectory,
  packageEvidence,
  threadEvidence,
  validatorOf,
  type DeploymentProfile,
  type Named,
  type PolicyEnvelope,
} from '@agent-exchange/protocol'
import { EVIDENCE_FORMAT, type EvidenceBundle } from './evidence-bundle.ts'
import { createFindings, type EvidenceReport, type Findings } from './evidence-report.ts'
import { createKeyRings, verifyFingerprints } from './key-ring.ts'
import { verifyChain, type ChainAnchor } from './verify-chain.ts'
import { verifyPackageEvidence } from './verify-package-evidence.ts'

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
 * Verifies evidence without the exchange: the hash chain, the platform's signed acceptance, policy receipts,
 * package receipts, revocations, manifests, and the history of every key that was relied on. It says as well what
 * cannot be known from the evidence alone, and why. Never throws over what evidence holds.
 *
 * @example
 * const { verdict, checks, unverifiable } = await verifyEvidence(evidence, { fingerprints: { agent_cars: [known] } })
 * for (const { what, ok, detail } of checks) console.log(ok ? 'ok' : 'NOT OK', what, detail)
 */
export async function verifyEvidence(
  evidence: EvidenceBundle,
  options: VerifyEvidenceOptions = {},
): Promise<EvidenceReport> {
  const { fingerprints = {}, contents = {}, policies = [], anchors = [] } = options
  const { profile = DEFAULT_PROFILE } = options
  const findings = createFindings()
  if (!isReadable(evidence, findings)) return findings.report(undefined)
  const { thread, packages, platformKeys } = evidence
  await verifyChain(thread, anchors, findings)
  const keys = await createKeyRings(evidence, findings)
  const platformAgentId = profile['O-42'].agent_id
  const isPlatform = platformKeys.agent_id === platformAgentId
  findings.check('the directory is that of the platform', isPlatform, platformKeys.agent_id)
  for (const [index, one] of packages.entries()) {
    const ring = keys.rings[index]
    if (!ring) continue
    const content = Object.hasOwn(contents, one.package_id) ? contents[one.package_id] : undefined
    await verifyPackageEvidence(
      { evidence: one, ring, platformAgentId, profile, policies, findings },
      thread,
      content,
    )
  }
  verifyFingerprints(keys, fingerprints, findings)
  sayWhatStaysOpen(findings)
  const last = thread.entries.at(-1)
  return findings.report(last && { position: last.position, hash: last.proof.hash })
}

/** Evidence comes from a file or from somebody else: nothing is read before its shape is known. */
function isReadable(evidence: EvidenceBundle, findings: Findings): boolean {
  const { format, thread, packages, platformKeys } = evidence as Partial<EvidenceBundle>
  const parts: [what: string, schema: Named<unknown>, value: unknown][] = [
    ['the thread’s evidence is well formed', threadEvidence, thread],
    ['the platform’s keys are well formed', keyDirectory, platformKeys],
    ...(Array.isArray(packages) ? (packages as unknown[]) : [undefined]).map(
      (one): [string, Named<unknown>, unknown] => [
        'the package’s evidence is well formed',
        packageEvidence,
        one,
      ],
    ),
  ]
  const isFormat = format === EVIDENCE_FORMAT
  findings.check('the format is known', isFormat, EVIDENCE_FORMAT)
  const failing = parts.filter(([, schema, value]) => !validatorOf(schema).accepts(value))
  for (const [what, schema, value] of failing) {
    const [first] = validatorOf(schema)(value)
    findings.check(what, false, first ? `${first.pointer} ${first.message}` : 'it is missing')
  }
  return isFormat && failing.length === 0
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
