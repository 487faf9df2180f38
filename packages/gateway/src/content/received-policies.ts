import type { Queries, Transaction } from '@agent-exchange/database'
import type { PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'

/** Owner of the table received_policy: what other companies permit language models to do with their content. */

export type ModelUse = PolicyEnvelope['model_use']

export interface ReceivedObject {
  readonly agentId: string
  readonly packageId: string
  /** The organization that sent it. */
  readonly organizationId: string
  readonly object: ProtocolObject
}

/** Keeps what a received policy says. Of two with the same id, the later one counts. */
export async function keepReceivedPolicy(
  tx: Transaction,
  received: ReceivedObject,
  at: string,
): Promise<void> {
  const { agentId, packageId, organizationId, object } = received
  if (object.object_type !== 'policy_envelope') return
  const { policy_id, model_use } = object
  await tx`
    insert into received_policy (agent_id, organization_id, policy_id, allowed_for_training,
      allowed_for_runtime_reasoning, package_id, received_at)
    values (${agentId}, ${organizationId}, ${policy_id}, ${model_use.allowed_for_training},
      ${model_use.allowed_for_runtime_reasoning}, ${packageId}, ${at})
    on conflict (agent_id, organization_id, policy_id) do update set
      allowed_for_training = excluded.allowed_for_training,
      allowed_for_runtime_reasoning = excluded.allowed_for_runtime_reasoning,
      package_id = excluded.package_id, received_at = excluded.received_at`
}

/** What the sender permits; undefined if its policy was never received. A received policy speaks for itself. */
export async function modelUseOf(
  db: Queries,
  { agentId, organizationId, object }: Omit<ReceivedObject, 'packageId'>,
): Promise<ModelUse | undefined> {
  if (object.object_type === 'policy_envelope') return object.model_use
  if (object.object_type !== 'reasoning_package' && object.object_type !== 'response_object') return undefined
  const [found] = await db<ModelUse[]>`
    select allowed_for_training, allowed_for_runtime_reasoning from received_policy
    where agent_id = ${agentId} and organization_id = ${organizationId}
      and policy_id = ${object.policy_envelope.policy_id}`
  return found
}
