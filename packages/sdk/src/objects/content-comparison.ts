import type {
  DeploymentProfile,
  PackageMetadata,
  PolicyReceipt,
  ProtocolObject,
} from '@agent-exchange/protocol'

/** O-35: which authors and senders of an object count. */
type AuthorRules = Pick<DeploymentProfile['O-35'], 'author' | 'sender'>

/** A member of the object, and whether it agrees with the metadata. */
type Comparison = readonly [pointer: string, agrees: boolean]

/**
 * Compares the sealed object with metadata and policy receipt. The exchange checked those two, and could not check
 * the object. What a response answers is compared elsewhere. Returns pointers to members that differ. The object's own id and creation time may differ from the
 * package's (PKG-09).
 */
export function contentDifferences(
  object: ProtocolObject,
  metadata: PackageMetadata,
  receipt: PolicyReceipt,
  rules: AuthorRules,
): string[] {
  return [
    ...threadComparisons(object, metadata),
    ...authorComparisons(object, metadata, rules),
    ...senderComparisons(object, metadata, rules),
    ...packageComparisons(object, metadata, receipt),
    ...responseComparisons(object, receipt),
  ]
    .filter(([, agrees]) => !agrees)
    .map(([pointer]) => pointer)
}

function threadComparisons(object: ProtocolObject, metadata: PackageMetadata): Comparison[] {
  // A policy_envelope belongs to no thread.
  if (object.object_type === 'policy_envelope') return []
  return [['/thread_id', object.thread_id === metadata.thread_id]]
}

/**
 * Nobody may sign the content of another organization again as its own. A story or a policy may be passed on: it has its
 * author inside. An audit event was created by the exchange or by another organization than its sender.
 */
function authorComparisons(
  { object_type: type, created_by: author }: ProtocolObject,
  metadata: PackageMetadata,
  { author: rule }: AuthorRules,
): Comparison[] {
  const isOwn = type === 'reasoning_package' || type === 'response_object'
  const isCompared = rule === 'every_object' ? type !== 'audit_event' : rule === 'packages' && isOwn
  if (!isCompared) return []
  return [['/created_by/organization_id', author.organization_id === metadata.sender_org_id]]
}

function senderComparisons(
  object: ProtocolObject,
  metadata: PackageMetadata,
  { sender: rule }: AuthorRules,
): Comparison[] {
  if (object.object_type !== 'reasoning_package' || rule === 'anyone') return []
  const { organization_id: organizationId, agent_id: agentId } = object.sender
  return [
    ['/sender/organization_id', organizationId === metadata.sender_org_id],
    ['/sender/agent_id', rule === 'organization' || agentId === metadata.sender_agent_id],
  ]
}

function packageComparisons(
  object: ProtocolObject,
  metadata: PackageMetadata,
  receipt: PolicyReceipt,
): Comparison[] {
  if (object.object_type !== 'reasoning_package') return []
  const { recipients, policy_envelope: policy } = object
  return [
    ['/recipients', recipients.some(({ organization_id }) => organization_id === metadata.recipient_org_id)],
    ['/policy_envelope/policy_id', policy.policy_id === receipt.policy_id],
    // A package that requires an approval is not covered by a receipt without one.
    [
      '/policy_envelope/human_approval/required',
      !policy.human_approval.required || receipt.human_approval.required,
    ],
  ]
}

function responseComparisons(object: ProtocolObject, receipt: PolicyReceipt): Comparison[] {
  if (object.object_type !== 'response_object') return []
  return [['/policy_envelope/policy_id', object.policy_envelope.policy_id === receipt.policy_id]]
}
