import { verifyPolicyReceipt } from '@agent-exchange/crypto'
import { isEligible, receiptDifferences } from '@agent-exchange/protocol'
import { policyDigest } from './policy-digest.ts'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import type { EntryClaims } from './verify-chain.ts'

/** POL-01 to POL-04, as far as they can be seen from outside. */
export async function verifySendersPolicyReceipt(subject: PackageCase): Promise<boolean> {
  const { record, metadata, ring, findings, profile, packageId } = subject
  const { policy_receipt: receipt } = record
  const what = 'the sender signed the policy receipt'
  const entry = policyEntryOf(subject)
  const arrivedAt = entry && arrivalOf(entry)
  const key = ring.find(metadata.sender_agent_id, receipt.signature.key_id)
  if (!key || !entry || arrivedAt === undefined) {
    const detail = key ? 'the chain does not record it' : 'the signature names no key of the sender'
    findings.check(what, false, detail, { packageId })
    return false
  }
  const holds = await isSigned(({ publicKey }) => verifyPolicyReceipt(receipt, publicKey), key)
  const verdict = judgeKey(key, { claimedAt: receipt.evaluated_at, arrivedAt })
  const isFromSender = reportSignature(subject, what, holds, verdict, {
    signer: key.signer,
    position: entry.value.position,
  })
  const differing = receiptDifferences(receipt, metadata)
  const covers = differing.length === 0
  findings.check('the policy receipt covers the package', covers, differing.join(', ') || packageId, {
    packageId,
  })
  const eligible = isEligible(receipt, profile)
  findings.check('the checks passed, and a required approval is there', eligible, receipt.policy_id, {
    packageId,
  })
  await comparePolicy(subject)
  return isFromSender && covers
}

function policyEntryOf({ entries }: PackageCase): EntryClaims | undefined {
  return entries.find(({ value }) => value.proof.kind === 'policy_receipt_accepted')
}

/** When the exchange accepted the receipt; it joins the chain only with its package. */
function arrivalOf(entry: EntryClaims): string | undefined {
  return ['proof/accepted_at', 'event/occurred_at', 'proof/recorded_at']
    .map((path) => entry.textAt(path))
    .find((time) => time !== undefined)
}

/** Two organizations may give their policies the same id, so only one of the sender's own can contradict. */
async function comparePolicy({
  record,
  metadata,
  policies,
  findings,
  packageId,
}: PackageCase): Promise<void> {
  const { policy_id: id, policy_digest: digest } = record.policy_receipt
  const digests = await Promise.all(policies.map(policyDigest))
  const isThere = digests.includes(digest)
  const isContradicted = policies.some(
    ({ policy_id, created_by }) => policy_id === id && created_by.organization_id === metadata.sender_org_id,
  )
  if (isThere || isContradicted)
    return findings.check('the policy is the one that was evaluated', isThere, id, { packageId })
  findings.unverifiable(
    'which policy was evaluated',
    'Only its digest is known. Give the policy_envelope to compare.',
    packageId,
  )
}
