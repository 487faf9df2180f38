import { canonicalBytes, sha256Digest } from '@agent-exchange/crypto'
import type { DeploymentProfile, PolicyEnvelope, PolicyReceipt } from '@agent-exchange/protocol'

/** O-41: SHA-256 over RFC 8785 of the whole policy_envelope. */
export function policyDigest(policy: PolicyEnvelope): Promise<string> {
  return sha256Digest(canonicalBytes(policy))
}

/** POL-03: all five checks passed, and an approval that is required is there. */
export function isEligible(receipt: PolicyReceipt, profile: DeploymentProfile): boolean {
  const { passing_outcomes, approving_outcomes } = profile['O-34']
  const { required, outcome, approved_at } = receipt.human_approval
  const isApproved =
    approved_at !== undefined && outcome !== undefined && approving_outcomes.includes(outcome)
  return (
    receipt.checks.every((check) => passing_outcomes.includes(check.outcome)) && (!required || isApproved)
  )
}
