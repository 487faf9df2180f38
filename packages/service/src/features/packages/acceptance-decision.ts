import {
  isEarlier,
  PROTOCOL_VERSION,
  receiptDifferences,
  type DeploymentProfile,
  type PackageMetadata,
  type TransportMode,
} from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'
import { EMPTY_THREAD } from '../audit/chain.ts'
import { lockNameOf } from '../keys/public-keys.ts'
import { requireSigningKey, sealingKeyFault } from '../keys/signing-key.ts'
import { sendingName } from '../organizations/consent-store.ts'
import { requireWithin } from '../organizations/usage-store.ts'
import { pairName } from '../threads/store.ts'
import type { AcceptanceState, AgentState, ThreadState } from './acceptance-state.ts'
import { requireDailyQuotas } from './daily-quotas.ts'
import type { PackageRow } from './store.ts'
import type { Submission } from './submission.ts'

/** The effect of an accepted submission on its thread. */
export interface Decision {
  readonly thread: ThreadState
  /** Pairs of organizations that exchange packages in this thread for the first time. */
  readonly newPairs: readonly (readonly [organization: string, counterparty: string])[]
  /** The package that a response answers. */
  readonly original: PackageRow | undefined
  /** Of the policy receipt; it labels the package's records in the transparency log. */
  readonly receiptSignature: string
}

/** Decides on one submission from the state that was read, or throws a problem. Pure: no clock, no database. */
export function decide(submission: Submission, state: AcceptanceState): Decision {
  const { metadata } = submission
  requireFreshId(metadata, state)
  requireTimes(submission)
  requireSenderKey(submission, state)
  const original = requireOriginal(submission, state)
  const receiptSignature = requirePolicyReceipt(submission, state)
  const recipient = requireRecipient(submission, state)
  const { thread, newPairs } = requireThread(submission, state)
  requireTransport(submission, recipient, thread.transportMode, state)
  requireSealedToParties(submission, recipient, state)
  requireStorage(submission, state)
  requireDailyQuotas(submission, thread, state)
  return { thread, newPairs, original, receiptSignature }
}

function requireFreshId({ package_id }: PackageMetadata, { packages }: AcceptanceState): void {
  if (packages.has(package_id)) throw new Problem('identifier_conflict')
}

/** PKG-12. */
function requireTimes({ metadata, now }: Submission): void {
  if (!isEarlier(metadata.created_at, metadata.expires_at)) {
    const message = 'Use a time that is later than created_at.'
    const failures = [{ pointer: '/metadata/expires_at', rule: 'PKG-12', message }]
    throw new Problem('validation_failed', { failures })
  }
  if (!isEarlier(now, metadata.expires_at)) throw new Problem('package_expired')
}

/** ID-05. The signature was verified before; this checks the status of agent and key. */
function requireSenderKey(
  { metadata, signingKeyId, now }: Submission,
  { keys, agents }: AcceptanceState,
): void {
  const agentId = metadata.sender_agent_id
  if (agents.get(agentId)?.status !== 'active')
    throw new Problem('not_permitted', { reason: 'agent_not_active' })
  const key = keys.get(lockNameOf({ agentId, keyId: signingKeyId }))
  requireSigningKey(key, { claimedAt: metadata.created_at, arrivedAt: now })
}

/** PKG-09, O-46: a response answers the package in the path, from its recipient to its sender. */
function requireOriginal(submission: Submission, state: AcceptanceState): PackageRow | undefined {
  const { metadata, respondsTo, now, caller, context } = submission
  if (respondsTo === undefined) {
    if (metadata.responds_to_package_id === undefined) return undefined
    throw new Problem('response_mismatch', { members: ['responds_to_package_id'] })
  }
  const original = state.packages.get(respondsTo)
  const isParty = [original?.sender_org_id, original?.recipient_org_id].includes(caller.organizationId)
  if (!original || !isParty) throw new Problem('resource_not_found')
  const differing = [
    metadata.responds_to_package_id !== respondsTo && 'responds_to_package_id',
    metadata.thread_id !== original.thread_id && 'thread_id',
    ...differingParties(metadata, original, context.profile),
  ].filter((member) => member !== false)
  if (differing.length > 0) throw new Problem('response_mismatch', { members: differing })
  if (original.state === 'revoked') throw new Problem('invalid_state_transition', { state: original.state })
  if (context.profile['O-27'].blocks.includes('response') && !isEarlier(now, original.expires_at)) {
    throw new Problem('package_expired')
  }
  return original
}

/** Other checks require, for every package, that each agent is active and belongs to its organization. */
function differingParties(
  metadata: PackageMetadata,
  original: PackageRow,
  profile: DeploymentProfile,
): (string | false)[] {
  if (profile['O-46'].responses === 'same_agents') {
    return [
      metadata.sender_agent_id !== original.recipient_agent_id && 'sender_agent_id',
      metadata.recipient_agent_id !== original.sender_agent_id && 'recipient_agent_id',
    ]
  }
  return [
    metadata.sender_org_id !== original.recipient_org_id && 'sender_org_id',
    metadata.recipient_org_id !== original.sender_org_id && 'recipient_org_id',
  ]
}

/** POL-04. */
function requirePolicyReceipt({ metadata }: Submission, { policyReceipts }: AcceptanceState): string {
  const known = policyReceipts.get(metadata.policy_receipt_id)
  // A receipt of another organization and a missing one get the same answer.
  if (known?.row.sender_org_id !== metadata.sender_org_id) throw new Problem('policy_receipt_missing')
  const { row, receipt } = known
  const differing = receiptDifferences(receipt, metadata)
  if (differing.length > 0) throw new Problem('policy_receipt_mismatch', { members: differing })
  if (!row.eligible) throw new Problem('policy_receipt_ineligible')
  return receipt.signature.signature
}

/** PKG-06, PKG-15, O-50. */
function requireRecipient(submission: Submission, state: AcceptanceState): AgentState {
  const { metadata } = submission
  const recipient = state.agents.get(metadata.recipient_agent_id)
  if (recipient?.organization_id !== metadata.recipient_org_id) throw incapable('agent_unknown')
  if (recipient.status !== 'active' || recipient.organization_status !== 'active')
    throw incapable('agent_not_active')
  // Without a reason: the sender learns nothing about the lists of the recipient.
  if (!acceptsFrom(recipient, submission, state)) throw new Problem('recipient_not_capable')
  const supported = recipient.protocol_versions.filter((version) => version === PROTOCOL_VERSION)
  if (metadata.protocol_version !== PROTOCOL_VERSION || supported.length === 0) {
    const versions = supported.length > 0 ? supported : recipient.protocol_versions
    throw new Problem('protocol_version_incompatible', { supported_versions: versions })
  }
  return recipient
}

/** The first package creates the thread. Only participants post to it; the recipient becomes one. */
function requireThread({ metadata, context }: Submission, state: AcceptanceState) {
  const { thread_id, sender_org_id, recipient_org_id } = metadata
  const parties = [...new Set([sender_org_id, recipient_org_id])]
  const thread = state.threads.get(thread_id)
  if (thread && !thread.participants.has(sender_org_id)) throw new Problem('identifier_conflict')
  const joining = parties.filter((organization) => !thread?.participants.has(organization))
  const size = (thread?.participants.size ?? 0) + joining.length
  const maximum = context.profile['O-31'].maximum_organizations
  if (size > maximum) throw new Problem('quota_reached', { quota: 'maximum_organizations', maximum })
  const pairs = [[sender_org_id, recipient_org_id] as const, [recipient_org_id, sender_org_id] as const]
  const newPairs = pairs
    .slice(0, parties.length)
    .filter(([organization, counterparty]) => !thread?.pairs.has(pairName(organization, counterparty)))
  return { thread: thread ?? newThread(parties, state), newPairs }
}

/** PKG-05: if both organizations have an approved connector, the thread is ds_x from its first package on. */
function newThread(parties: readonly string[], { connectors }: AcceptanceState): ThreadState {
  const connected = parties.every((organization) => connectors.has(organization))
  return {
    transportMode: connected ? 'ds_x' : 'native',
    participants: new Set(),
    pairs: new Set(),
    packageCount: 0,
    end: EMPTY_THREAD,
  }
}

/** PKG-03, PKG-05, PKG-15. */
function requireTransport(
  { metadata, content }: Submission,
  recipient: AgentState,
  mode: TransportMode,
  { connectors }: AcceptanceState,
): void {
  if (content.transport !== mode) throw new Problem('transport_mode_mismatch', { required_mode: mode })
  if (!recipient.transport_modes.includes(mode)) throw incapable('transport_mode')
  if (content.transport === 'native') return
  const own = connectors.get(metadata.sender_org_id)
  if (!own?.has(content.edc.connector_id)) throw new Problem('connector_not_approved', { party: 'sender' })
  // After a connector is suspended, its ds_x threads refuse new packages and keep their mode.
  if (!connectors.has(metadata.recipient_org_id))
    throw new Problem('connector_not_approved', { party: 'recipient' })
}

/** PKG-02: one of the two keys is the sender's, the other the recipient's, in either order. */
function requireSealedToParties(
  { metadata, content }: Submission,
  recipient: AgentState,
  state: AcceptanceState,
): void {
  if (content.transport !== 'native') return
  const [first, second] = content.recipientKeyIds
  const sealedTo = (senderKeyId: string, recipientKeyId: string) =>
    sealingKeyFault(keyOf(metadata.sender_agent_id, senderKeyId, state), metadata.created_at) ??
    sealingKeyFault(keyOf(metadata.recipient_agent_id, recipientKeyId, state), metadata.created_at)
  // Key ids are unique only within an agent, so both orders are tried before a key is reported.
  const [sendersFirst, sendersLast] = [sealedTo(first, second), sealedTo(second, first)]
  if (!sendersFirst || !sendersLast) return
  if (!recipient.has_encryption_key) throw incapable('encryption_key')
  const reason = keyOf(metadata.sender_agent_id, first, state) ? sendersFirst : sendersLast
  throw new Problem('encryption_key_unusable', { reason })
}

/** O-13: content counts for the sending organization. */
function requireStorage({ metadata, content, context }: Submission, { storedBytes }: AcceptanceState): void {
  if (content.transport !== 'native') return
  const stored = storedBytes.get(metadata.sender_org_id) ?? 0
  requireWithin(context.profile, 'stored_bytes', stored + content.bytes)
}

/**
 * O-50: whether the recipient's organization accepts packages from the sender. A response is an answer to what it sent
 * itself, and always accepted.
 */
function acceptsFrom(
  recipient: AgentState,
  { metadata, respondsTo, context }: Submission,
  { senderRules }: AcceptanceState,
): boolean {
  const { sender_org_id: senderId, recipient_org_id: recipientId } = metadata
  if (respondsTo !== undefined || senderId === recipientId) return true
  const rule = senderRules.get(sendingName({ senderId, recipientId }))
  const from = recipient.accepts_from ?? context.profile['O-50'].accepts_from
  return from === 'listed' ? rule === 'accept' : rule !== 'block'
}

function keyOf(agentId: string, keyId: string, { keys }: AcceptanceState) {
  return keys.get(lockNameOf({ agentId, keyId }))
}

function incapable(reason: string): Problem {
  return new Problem('recipient_not_capable', { reason })
}
