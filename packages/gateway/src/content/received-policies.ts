import type { Queries, Transaction } from '@agent-exchange/database'
import type { PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'

/**
 * Owner of the table received_policy: what other companies permit language models to do with their content, and how long
 * it may be kept.
 */

export type ModelUse = PolicyEnvelope['model_use']

export interface ReceivedObject {
  readonly agentId: string
  readonly packageId: string
  /** The organization that sent it. */
  readonly organizationId: string
  readonly object: ProtocolObject
}

/**
 * Keeps what a received policy says. Of two with the same id, the one that the exchange accepted later counts, in whatever
 * order they are opened. False if the object is no policy, or one that was replaced.
 */
export async function keepReceivedPolicy(
  tx: Transaction,
  received: ReceivedObject,
  acceptedAt: string,
): Promise<boolean> {
  const { agentId, packageId, organizationId, object } = received
  if (object.object_type !== 'policy_envelope') return false
  const { policy_id, model_use, retention } = object
  const { count } = await tx`
    insert into received_policy (agent_id, organization_id, policy_id, allowed_for_training,
      allowed_for_runtime_reasoning, retention_days, package_id, received_at)
    values (${agentId}, ${organizationId}, ${policy_id}, ${model_use.allowed_for_training},
      ${model_use.allowed_for_runtime_reasoning}, ${retention.duration_days}, ${packageId}, ${acceptedAt})
    on conflict (agent_id, organization_id, policy_id) do update set
      allowed_for_training = excluded.allowed_for_training,
      allowed_for_runtime_reasoning = excluded.allowed_for_runtime_reasoning,
      retention_days = excluded.retention_days,
      package_id = excluded.package_id, received_at = excluded.received_at
    where received_policy.received_at <= excluded.received_at`
  return count > 0
}

/** The policy that an object names; undefined for objects that name none. */
export function policyIdOf(object: ProtocolObject): string | undefined {
  if (object.object_type === 'policy_envelope') return object.policy_id
  if (object.object_type !== 'reasoning_package' && object.object_type !== 'response_object') return undefined
  return object.policy_envelope.policy_id
}

type OfSender = Omit<ReceivedObject, 'packageId'>

/** What the sender permits; undefined if its policy was never received. A received policy speaks for itself. */
export async function modelUseOf(db: Queries, received: OfSender): Promise<ModelUse | undefined> {
  if (received.object.object_type === 'policy_envelope') return received.object.model_use
  const policyId = policyIdOf(received.object)
  if (policyId === undefined) return undefined
  const { agentId, organizationId } = received
  const [found] = await db<ModelUse[]>`
    select allowed_for_training, allowed_for_runtime_reasoning from received_policy
    where agent_id = ${agentId} and organization_id = ${organizationId} and policy_id = ${policyId}`
  return found && { ...found }
}
