import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Identity } from '../context.ts'

export function isSenderOf({ organizationId, agentId }: Identity, metadata: PackageMetadata): boolean {
  return metadata.sender_org_id === organizationId && metadata.sender_agent_id === agentId
}

export function isRecipientOf({ organizationId, agentId }: Identity, metadata: PackageMetadata): boolean {
  return metadata.recipient_org_id === organizationId && metadata.recipient_agent_id === agentId
}

/** The exchange shows the packages of all agents of an organization to each of them. */
export function isPartyOf(identity: Identity, metadata: PackageMetadata): boolean {
  return isSenderOf(identity, metadata) || isRecipientOf(identity, metadata)
}
