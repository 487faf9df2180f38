import { isEarlier } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import { lockNames } from '../../kernel/named-locks.ts'
import { isStorable } from '../../kernel/bounds.ts'
import type { Call, Mutation } from '../../kernel/call.ts'
import { appendKeyEvents } from '../../kernel/key-events.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireAgent } from '../../kernel/roles.ts'
import { lockNameOf } from '../keys/public-keys.ts'
import { requireWithin } from '../organizations/usage-store.ts'
import { lockAgent } from './agent-store.ts'
import { eventBy } from './key-registration.ts'
import { countRevocations, lockKey, markRevoked, type KeyRow } from './key-store.ts'
import { inZulu, toPublicKey } from './resources.ts'

/**
 * ID-04. `invalid_from` is the end of the key's validity, in the past or future; `revoked_at` is the time of recording.
 * A further revocation may only move `invalid_from` earlier: a planned retirement can become an emergency.
 */
export const revokeAgentKey: Mutation<'revokeAgentKey'> = {
  authorize({ caller, params }) {
    requireAgent(caller, params.agent_id)
  },

  async run(call, tx) {
    const { params, caller, body, now } = call
    const { agent_id: agentId, key_id: keyId } = params
    if (!isStorable(agentId) || !isStorable(keyId)) throw new Problem('resource_not_found')
    // Before the key: whoever registers a key locks the agent first. Events of the agent are numbered under this lock.
    const agent = await lockAgent(tx, agentId)
    // The same problem as for an unknown key, so that ids cannot be probed.
    if (agent?.organization_id !== caller.organizationId) throw new Problem('resource_not_found')
    // Signers share this lock (ID-05): a package is accepted before the revocation or refused after it.
    await lockNames(tx, 'key', [lockNameOf({ agentId, keyId })])
    const key = await lockKey(tx, agentId, keyId)
    if (!key) throw new Problem('resource_not_found')
    const invalidFrom = inZulu(body.invalid_from)
    if (key.invalid_from !== null) await requireEarlier(tx, call, key, key.invalid_from)

    await markRevoked(tx, key, { revokedAt: now, invalidFrom })
    await appendKeyEvents(tx, [
      {
        ...eventBy(call, agentId, keyId),
        kind: 'revoked',
        details: {
          invalid_from: invalidFrom,
          reason_code: body.reason_code,
          evidence_reference: body.evidence_reference,
          correlation_id: call.correlationId,
        },
      },
    ])
    return toPublicKey({ ...key, status: 'revoked', revoked_at: now, invalid_from: invalidFrom })
  },
}

async function requireEarlier(
  tx: Transaction,
  { body, now, context }: Call<'revokeAgentKey'>,
  key: KeyRow,
  current: string,
): Promise<void> {
  if (isEarlier(body.invalid_from, current) !== true) {
    throw new Problem('invalid_state_transition', { state: key.status, invalid_from: current })
  }
  // The quota must never prevent the owner from ending a key that is still usable.
  const endsUsableKey = isEarlier(now, current) === true && isEarlier(now, body.invalid_from) !== true
  if (endsUsableKey) return
  requireWithin(context.profile, 'revocations_per_key', (await countRevocations(tx, key)) + 1)
}
