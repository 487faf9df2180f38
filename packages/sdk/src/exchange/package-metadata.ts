import { canonicalBytes, canonicalize } from '@agent-exchange/crypto'
import { isEarlier, type PackageMetadata, type PolicyReceipt } from '@agent-exchange/protocol'

/** POL-04: what a policy receipt and the metadata of its package say alike. */
const BOUND_BY_RECEIPT = [
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

/**
 * What the sealed content authenticates beside itself (O-17, ours): the metadata but for two members. The digest
 * covers the sealed content, so it cannot stand inside; the transport may change without sealing again.
 */
export function boundMetadata(
  metadata: Omit<PackageMetadata, 'content_digest' | 'transport_mode'>,
): Uint8Array {
  const { content_digest: _, transport_mode: __, ...bound } = metadata as PackageMetadata
  return canonicalBytes(bound)
}

/** Names of members that two objects do not have alike; a missing member differs from any value. */
export function differingMembers(left: object, right: object): string[] {
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].filter((name) => textOf(left, name) !== textOf(right, name)).toSorted()
}

function textOf(object: object, name: string): string | undefined {
  const value: unknown = Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
  return value === undefined ? undefined : canonicalize(value)
}

/** POL-04: members in which a receipt does not cover the package. */
export function receiptDifferences(receipt: PolicyReceipt, metadata: PackageMetadata): string[] {
  const differing: string[] = BOUND_BY_RECEIPT.filter((member) => receipt[member] !== metadata[member])
  // The receipt predates the package; the same instant is allowed.
  if (isEarlier(metadata.created_at, receipt.evaluated_at) !== false) differing.push('evaluated_at')
  const { approved_at } = receipt.human_approval
  if (approved_at !== undefined && isEarlier(metadata.created_at, approved_at) !== false)
    differing.push('approved_at')
  return differing
}
