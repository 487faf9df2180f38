import { validateObject } from '@agent-exchange/protocol'
import type { EntryClaims } from './verify-chain.ts'

/** What a signed statement says, as far as the audit event beside it repeats that. */
export interface EventFacts {
  /** Who signed. */
  readonly actor: { readonly agentId: string; readonly organizationId: string }
  readonly policyId?: string
  readonly decision?: string
}

/** The audit event of an entry is valid, and repeats what was signed. Id, kind, times and trace are the exchange's own. */
export function verifyEvent(
  entry: EntryClaims,
  threadId: string,
  signed?: EventFacts & { readonly packageId: string },
): void {
  const { event, proof } = entry.value
  if (!event) return
  if (validateObject(event).valid) entry.cover('event/object_type', 'event/protocol_version')
  else entry.expect('event', undefined)
  entry.expect('event/thread_id', threadId)
  entry.coverIfEqual('event/occurred_at', proof.recorded_at)
  entry.coverIfEqual('event/created_at', proof.recorded_at)
  if (!signed) return
  const { packageId, actor, policyId, decision } = signed
  entry.expect('event/target/object_id', packageId)
  entry.expectIfPresent('event/actor/agent_id', actor.agentId)
  entry.expect('event/actor/organization_id', actor.organizationId)
  entry.coverIfEqual('event/created_by/agent_id', actor.agentId)
  entry.coverIfEqual('event/created_by/organization_id', actor.organizationId)
  if (policyId !== undefined) entry.expectIfPresent('event/policy_id', policyId)
  if (decision !== undefined) entry.expectIfPresent('event/decision', decision)
}
