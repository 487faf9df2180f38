import { verifyPolicyReceipt } from '@agent-exchange/crypto'
import { isEligible, receiptDifferences } from '@agent-exchange/protocol'
import { policyDigest } from './policy-digest.ts'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import type { EntryClaims } from './verify-chain.ts'

/** POL-01 to POL-04, as far as they can be seen from outside. */
export async function verifySendersPolicyReceipt(subject: PackageCase): Promise<boolean> {
  const { record, metadata, ring, checks, profile, packageId } = subject
  const { policy_receipt: receipt } = record
  const about = { package_id: packageId }
  const entry = policyEntryOf(subject)
  const arrivedAt = entry && arrivalOf(entry)
  const key = ring.find(metadata.sender_agent_id, receipt.signature.key_id)
  if (!key || !entry || arrivedAt === undefined) {
    const values = { fault: key ? 'not_recorded' : 'key_unknown' } as const
    return checks.fails('policy_receipt_signature', { ...about, values })
  }
  const holds = await isSigned(({ publicKey }) => verifyPolicyReceipt(receipt, publicKey), key)
  const verdict = judgeKey(key, { claimedAt: receipt.evaluated_at, arrivedAt })
  const { position } = entry.value
  const isFromSender = reportSignature(subject, {
    code: 'policy_receipt_signature',
    holds,
    verdict,
    key,
    position,
  })
  const differing = receiptDifferences(receipt, metadata)
  const covers = checks.check('policy_receipt_subject', differing.length === 0, {
    ...about,
    ...(differing.length > 0 && { values: { fault: 'differs', members: differing.join(', ') } }),
  })
  checks.check('policy_receipt_eligible', isEligible(receipt, profile), {
    ...about,
    values: { policy_id: receipt.policy_id },
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
async function comparePolicy({ record, metadata, policies, checks, packageId }: PackageCase): Promise<void> {
  const { policy_id: id, policy_digest: digest } = record.policy_receipt
  const digests = await Promise.all(policies.map(policyDigest))
  const isThere = digests.includes(digest)
  const isContradicted = policies.some(
    ({ policy_id, created_by }) => policy_id === id && created_by.organization_id === metadata.sender_org_id,
  )
  const result = isThere ? 'holds' : isContradicted ? 'fails' : 'unproved'
  checks.add('policy_evaluated', result, { package_id: packageId, values: { policy_id: id } })
}
