import type { PublicKey } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'

export interface KeyRevocation {
  /** Signatures from this time on are not trusted. May lie in the past. */
  readonly invalidFrom: Date
  readonly reasonCode: string
  /** Reference to the incident record. The exchange stores it: no business facts. */
  readonly evidenceReference: string
  readonly signal?: AbortSignal
}

/**
 * Revokes a key of this agent permanently. Packages accepted before `invalidFrom` stay verifiable. A second revocation
 * may move `invalidFrom` earlier, never later. A revoked key introduces no other key: peers must confirm keys that it
 * introduced and that they have not seen.
 *
 * @example
 * await revokeKey(context, keyId, { invalidFrom: stolenAt, reasonCode: 'compromise', evidenceReference: 'case_7' })
 */
export async function revokeKey(
  { connection, identity, keys }: AgentContext,
  keyId: string,
  { invalidFrom, reasonCode, evidenceReference, signal }: KeyRevocation,
): Promise<PublicKey> {
  // The key itself may be lost, which is a reason to revoke it.
  const isOurs = (await keys.list()).some((key) => key.keyId === keyId)
  if (isOurs) await keys.noteRevocation?.(keyId, invalidFrom.toISOString())
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
