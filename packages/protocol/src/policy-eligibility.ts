import type { DeploymentProfile } from './profile/profile.ts'
import type { PolicyReceipt } from './resources/policy-receipts.ts'

/** POL-03: whether a receipt authorizes a package. The exchange, the recipient and the verifier use the same rule. */
export function isEligible(receipt: PolicyReceipt, profile: DeploymentProfile): boolean {
  const { passing_outcomes } = profile['O-34']
  const hasPassed = receipt.checks.every(({ outcome }) => passing_outcomes.includes(outcome))
  return hasPassed && (!receipt.human_approval.required || isApproved(receipt, profile))
}

/** An approval names its outcome, its time and what it refers to; an unknown outcome does not count. */
export function isApproved({ human_approval }: PolicyReceipt, profile: DeploymentProfile): boolean {
  const { outcome = '', approval_reference = '', approved_at } = human_approval
  const isGiven = approval_reference !== '' && approved_at !== undefined
  return isGiven && profile['O-34'].approving_outcomes.includes(outcome)
}
