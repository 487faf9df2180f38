import { isEarlier } from './instants.ts'
import type { PackageMetadata } from './resources/packages.ts'
import type { PolicyReceipt } from './resources/policy-receipts.ts'

/** POL-04: members that must be equal in a policy receipt and in the metadata of its package. */
const BOUND_MEMBERS = [
  'policy_receipt_id',
  'package_id',
  'thread_id',
  'sender_org_id',
  'sender_agent_id',
  'recipient_org_id',
  'recipient_agent_id',
  'protocol_version',
  'skill_id',
  'skill_version',
  'content_digest',
] as const satisfies (keyof PackageMetadata & keyof PolicyReceipt)[]

/** POL-04: members in which receipt and package differ. The exchange and the recipient use the same check. */
export function receiptDifferences(receipt: PolicyReceipt, metadata: PackageMetadata): string[] {
  const differing: string[] = BOUND_MEMBERS.filter((member) => receipt[member] !== metadata[member])
  // The receipt must not be later than the package; an unreadable time counts as later.
  if (isEarlier(metadata.created_at, receipt.evaluated_at) !== false) differing.push('evaluated_at')
  const { required, approved_at } = receipt.human_approval
  if (required && approved_at !== undefined && isEarlier(metadata.created_at, approved_at) !== false)
    differing.push('approved_at')
  return differing
}
