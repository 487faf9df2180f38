import { randomBytes } from 'node:crypto'
import {
  MEDIA_TYPE,
  POLICY_CHECK_IDS,
  PROTOCOL_VERSION,
  type PackageMetadata,
  type PolicyReceipt,
} from '@agent-exchange/protocol'

/** Plaintext for which the whole envelope text comes to about 12 KB. */
export const PLAINTEXT_BYTES = 5_900
const DAY_MS = 86_400_000

export const freshId = (prefix: string) => `${prefix}_${randomBytes(16).toString('hex')}`

export interface Between {
  readonly sender: { readonly organizationId: string; readonly agentId: string }
  readonly recipient: { readonly organizationId: string; readonly agentId: string }
}

/** Metadata of a package, in a new thread unless one is given. */
export function metadataOf(
  { sender, recipient }: Between,
  {
    digest,
    threadId = freshId('thread'),
  }: { readonly digest: string; readonly threadId?: string | undefined },
): PackageMetadata {
  const now = new Date()
  return {
    package_id: freshId('pkg'),
    thread_id: threadId,
    sender_org_id: sender.organizationId,
    sender_agent_id: sender.agentId,
    recipient_org_id: recipient.organizationId,
    recipient_agent_id: recipient.agentId,
    protocol_version: PROTOCOL_VERSION,
    schema_version: '1.0.0',
    skill_id: 'skill_alignment',
    skill_version: '1.0.0',
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + DAY_MS).toISOString(),
    content_type: MEDIA_TYPE.reasoningPackage,
    content_digest: digest,
    transport_mode: 'native',
    policy_receipt_id: freshId('prcpt'),
  }
}

/** A policy receipt for that package, without its signature. */
export function unsignedReceipt(metadata: PackageMetadata): Omit<PolicyReceipt, 'signature'> {
  const { created_at: at } = metadata
  return {
    policy_receipt_id: metadata.policy_receipt_id,
    receipt_version: '1.0.0',
    package_id: metadata.package_id,
    thread_id: metadata.thread_id,
    sender_org_id: metadata.sender_org_id,
    sender_agent_id: metadata.sender_agent_id,
    recipient_org_id: metadata.recipient_org_id,
    recipient_agent_id: metadata.recipient_agent_id,
    protocol_version: metadata.protocol_version,
    skill_id: metadata.skill_id,
    skill_version: metadata.skill_version,
    content_digest: metadata.content_digest,
    policy_id: 'pol_delivery_dates',
    policy_schema_version: '1.0.0',
    policy_digest: metadata.content_digest,
    checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' })),
    human_approval: {
      required: true,
      outcome: 'approved',
      approval_reference: 'approval_42',
      approved_at: at,
    },
    evaluated_at: at,
    statement: 'The sender evaluated the named policy and all five checks passed.',
  }
}
