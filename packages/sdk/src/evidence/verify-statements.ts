import {
  CryptoError,
  verifyDetached,
  verifyManifest,
  verifyPackageStatement,
  verifyPolicyReceipt,
} from '@agent-exchange/crypto'
import {
  receiptDifferences,
  type DeploymentProfile,
  type EvidenceEntry,
  type PackageEvidence,
  type PolicyEnvelope,
  type ReceiptResource,
} from '@agent-exchange/protocol'
import { findAcceptance } from '../exchange/key-validity.ts'
import { isEligible, policyDigest } from '../exchange/policy-receipt.ts'
import type { Findings } from './evidence-report.ts'
import { judgeKey, type KeyRing, type RingKey } from './key-ring.ts'

/** The evidence of one package, and what it is held against. */
export interface PackageCase {
  readonly evidence: PackageEvidence
  readonly ring: KeyRing
  readonly platformAgentId: string
  readonly profile: DeploymentProfile
  readonly policies: readonly PolicyEnvelope[]
  readonly findings: Findings
}

/** The platform's signed word: what it accepted, under which key, when. */
export async function verifyAcceptance({
  evidence,
  ring,
  platformAgentId,
  findings,
}: PackageCase): Promise<void> {
  const { package_id: packageId, thread_id, package: resource, entries } = evidence
  const what = 'the platform signed its acceptance'
  const acceptance = findAcceptance(entries, packageId)
  const key = acceptance && ring.find(platformAgentId, acceptance.signature.key_id)
  if (!acceptance || !key)
    return findings.check(what, false, acceptance ? 'by an unknown key' : 'there is none', { packageId })
  const { accepted_at: acceptedAt } = acceptance
  const holds = await isSigned(() =>
    verifyDetached(acceptance, { member: 'signature', publicKey: key.publicKey }),
  )
  const judged = judgeKey(key, { claimedAt: acceptedAt, acceptedAt })
  report(findings, what, holds, judged, packageId)
  const differing = [
    acceptance.thread_id !== thread_id && 'thread_id',
    acceptance.content_digest !== resource.metadata.content_digest && 'content_digest',
    acceptedAt !== resource.created_at && 'accepted_at',
  ].filter((name) => name !== false)
  const detail = differing.length === 0 ? acceptedAt : differing.join(', ')
  findings.check('the acceptance is about this package', differing.length === 0, detail, { packageId })
}

/** POL-01 to POL-04, as far as they can be seen from outside. */
export async function verifyReceiptOfPolicy(subject: PackageCase): Promise<void> {
  const { evidence, ring, findings, profile, policies } = subject
  const { package_id: packageId, package: resource, policy_receipt: policyReceipt } = evidence
  const { metadata } = resource
  const { receipt, accepted_at: acceptedAt } = policyReceipt
  const what = 'the sender signed the policy receipt'
  const key = ring.find(metadata.sender_agent_id, receipt.signature.key_id)
  if (!key) return findings.check(what, false, 'by an unknown key', { packageId })
  const holds = await isSigned(() => verifyPolicyReceipt(receipt, key.publicKey))
  report(findings, what, holds, judgeKey(key, { claimedAt: receipt.evaluated_at, acceptedAt }), packageId)
  const differing = receiptDifferences(receipt, metadata)
  const covers = differing.length === 0
  findings.check(
    'the policy receipt covers the package',
    covers,
    differing.join(', ') || metadata.package_id,
    {
      packageId,
    },
  )
  const eligible = isEligible(receipt, profile)
  findings.check('the checks passed, and a required approval is there', eligible, receipt.policy_id, {
    packageId,
  })
  const policy = policies.find(({ policy_id }) => policy_id === receipt.policy_id)
  if (!policy)
    return findings.unverifiable(
      'which policy was evaluated',
      'Only its digest is known. Give the policy_envelope to compare.',
      packageId,
    )
  const isSamePolicy = (await policyDigest(policy)) === receipt.policy_digest
  findings.check('the policy is the one that was evaluated', isSamePolicy, receipt.policy_id, { packageId })
}

/** PKG-08: what the recipient said, each of it in the chain too. */
export async function verifyReceipts({ evidence, ring, findings }: PackageCase): Promise<void> {
  const { package_id: packageId, receipts, entries, package: resource } = evidence
  for (const receipt of receipts) {
    const { state, occurred_at: claimedAt, accepted_at: acceptedAt, signature } = receipt
    const what = `the recipient signed the receipt "${state}"`
    const key = ring.find(resource.metadata.recipient_agent_id, signature.key_id)
    if (!key || receipt.actor_agent_id !== resource.metadata.recipient_agent_id) {
      findings.check(what, false, 'by an unknown key or agent', { packageId })
      continue
    }
    const holds = await isStatement(bodyOf(receipt), packageId, key)
    report(findings, what, holds, judgeKey(key, { claimedAt, acceptedAt }), packageId)
    const recorded = entries.some(
      ({ proof }) =>
        proof.kind === `receipt_${state}` && memberOf(proof, 'receipt_id') === receipt.receipt_id,
    )
    findings.check(`the receipt "${state}" stands in the chain`, recorded, receipt.receipt_id, { packageId })
  }
}

/** PKG-10. */
export async function verifyRevocation({ evidence, ring, findings }: PackageCase): Promise<void> {
  const { package_id: packageId, entries, package: resource } = evidence
  const entry = entries.find(({ proof }) => proof.kind === 'package_revoked')
  const isRevoked = resource.state === 'revoked'
  findings.check(
    'the state and the chain agree on revocation',
    isRevoked === (entry !== undefined),
    isRevoked ? 'revoked' : 'not revoked',
    { packageId },
  )
  if (!entry) return
  const what = 'the sender signed the revocation'
  const statement = pick(entry.proof, ['requested_at', 'reason_code', 'reason_detail', 'signature'])
  const { signature, requested_at: claimedAt } = statement as {
    signature?: { key_id?: string }
    requested_at?: string
  }
  const key = ring.find(resource.metadata.sender_agent_id, signature?.key_id ?? '')
  if (!key) return findings.check(what, false, 'by an unknown key', { packageId })
  const holds = await isStatement(statement, packageId, key)
  const acceptedAt = entry.proof.recorded_at
  report(findings, what, holds, judgeKey(key, { claimedAt: claimedAt ?? '', acceptedAt }), packageId)
}

/** PKG-03: in ds_x the signature over the manifest is all that the exchange has of the package. */
export async function verifyManifestOf({ evidence, ring, findings }: PackageCase): Promise<void> {
  const { package_id: packageId, package: resource } = evidence
  const { metadata, edc, sender_signature, transport_mode, created_at: acceptedAt } = resource
  if (transport_mode === 'native') return
  const what = 'the sender signed the manifest of the transfer'
  if (!edc || !sender_signature) return findings.check(what, false, 'it is missing', { packageId })
  const key = ring.find(metadata.sender_agent_id, sender_signature.key_id)
  if (!key) return findings.check(what, false, 'by an unknown key', { packageId })
  const manifest = { transport_mode, metadata, edc, sender_signature }
  const holds = await isSigned(() => verifyManifest(manifest, key.publicKey))
  report(findings, what, holds, judgeKey(key, { claimedAt: metadata.created_at, acceptedAt }), packageId)
}

export function report(
  findings: Findings,
  what: string,
  holds: boolean,
  judged: ReturnType<typeof judgeKey>,
  packageId: string,
): void {
  const { ok, doubt, detail } = holds ? judged : { ok: false, doubt: undefined, detail: 'it does not fit' }
  findings.check(what, ok, detail, { packageId, ...(doubt && { doubt }) })
}

export async function isSigned(verify: () => Promise<unknown>): Promise<boolean> {
  try {
    await verify()
    return true
  } catch (error) {
    if (error instanceof CryptoError) return false
    throw error
  }
}

function isStatement(body: object, packageId: string, { publicKey }: RingKey): Promise<boolean> {
  return isSigned(() => verifyPackageStatement(body, { packageId, publicKey }))
}

/** What was signed of a receipt: the answer adds members of its own. */
function bodyOf(receipt: ReceiptResource): object {
  const names = ['receipt_id', 'state', 'occurred_at', 'actor_agent_id', 'package_digest', 'signature']
  return pick(receipt, names)
}

function pick(object: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)))
}

function memberOf(proof: EvidenceEntry['proof'], name: string): unknown {
  return Reflect.get(proof, name)
}
