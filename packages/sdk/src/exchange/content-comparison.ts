import type { PackageMetadata, PolicyReceipt, ProtocolObject } from '@agent-exchange/protocol'

/** A member of the object, and whether it agrees with the metadata. */
type Comparison = readonly [pointer: string, agrees: boolean]

/**
 * Compares the sealed object with metadata and policy receipt. The exchange checked those two, and could not check
 * the object. Returns pointers to members that differ. The object's own id and creation time may differ from the
 * package's (PKG-09).
 */
export function contentDifferences(
  object: ProtocolObject,
  metadata: PackageMetadata,
  receipt: PolicyReceipt,
): string[] {
  return [
    ...commonComparisons(object, metadata),
    ...packageComparisons(object, metadata, receipt),
    ...responseComparisons(object, metadata, receipt),
  ]
    .filter(([, agrees]) => !agrees)
    .map(([pointer]) => pointer)
}

function commonComparisons(object: ProtocolObject, metadata: PackageMetadata): Comparison[] {
  const comparisons: Comparison[] = []
  // A policy_envelope belongs to no thread.
  if (object.object_type !== 'policy_envelope')
    comparisons.push(['/thread_id', object.thread_id === metadata.thread_id])
  // An audit event was created by the exchange or by another organization than its sender.
  if (object.object_type !== 'audit_event')
    comparisons.push([
      '/created_by/organization_id',
      object.created_by.organization_id === metadata.sender_org_id,
    ])
  return comparisons
}

function packageComparisons(
  object: ProtocolObject,
  metadata: PackageMetadata,
  receipt: PolicyReceipt,
): Comparison[] {
  if (object.object_type !== 'reasoning_package') return []
  const { sender, recipients, policy_envelope: policy } = object
  return [
    ['/sender/organization_id', sender.organization_id === metadata.sender_org_id],
    ['/sender/agent_id', sender.agent_id === metadata.sender_agent_id],
    ['/recipients', recipients.some(({ organization_id }) => organization_id === metadata.recipient_org_id)],
    ['/policy_envelope/policy_id', policy.policy_id === receipt.policy_id],
    // A package that requires an approval is not covered by a receipt without one.
    [
      '/policy_envelope/human_approval/required',
      !policy.human_approval.required || receipt.human_approval.required,
    ],
  ]
}

function responseComparisons(
  object: ProtocolObject,
  metadata: PackageMetadata,
  receipt: PolicyReceipt,
): Comparison[] {
  if (object.object_type !== 'response_object') return []
  return [
    ['/responds_to_package_id', object.responds_to_package_id === metadata.responds_to_package_id],
    ['/policy_envelope/policy_id', object.policy_envelope.policy_id === receipt.policy_id],
  ]
}
