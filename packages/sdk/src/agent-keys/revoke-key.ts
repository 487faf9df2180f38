import type { PublicKey } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'

export interface KeyRevocation {
  /** The earliest creation time that can no longer be trusted; it may lie in the past. */
  readonly invalidFrom: Date
  readonly reasonCode: string
  /** Where the case is recorded. It is kept by the exchange: no business facts. */
  readonly evidenceReference: string
  readonly signal?: AbortSignal
}

/**
 * Revokes a key of this agent at the exchange, for ever. What was accepted before `invalidFrom` stays verifiable. It may
 * be repeated with an earlier `invalidFrom`, as when a planned retirement becomes an emergency; it never moves later.
 * A revoked key introduces no other: peers are asked to confirm keys that it introduced and they have not seen.
 *
 * @example
 * await revokeKey(context, keyId, { invalidFrom: stolenAt, reasonCode: 'compromise', evidenceReference: 'case_7' })
 */
export async function revokeKey(
  { connection, identity }: AgentContext,
  keyId: string,
  { invalidFrom, reasonCode, evidenceReference, signal }: KeyRevocation,
): Promise<PublicKey> {
  return connection.call('revokeAgentKey', {
    path: { agent_id: identity.agentId, key_id: keyId },
    body: {
      invalid_from: invalidFrom.toISOString(),
      reason_code: reasonCode,
      evidence_reference: evidenceReference,
    },
    ...(signal && { signal }),
  })
}
