import type { Database } from '@agent-exchange/database'
import type { Call, Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { agentStatuses } from '../agents/agent-store.ts'
import { holdKeys, lockNameOf } from '../keys/public-keys.ts'
import { requireSigningKey } from '../keys/signing-key.ts'
import { lockPackage, recordTransition } from './record-transitions.ts'
import { findRevocationSigner, type RevocationSigner } from './revocation-signer.ts'
import { keepSignatures, statementKey } from './statements.ts'
import { findPackageOfParty, type PackageRow } from './store.ts'

/**
 * PKG-10: the sender's organization withdraws a package before access. In ds_x the exchange cannot block the content, and
 * the answer does not claim it.
 */
export const revokePackage: Mutation<'revokePackage', RevocationSigner> = {
  authorize: async (call, db) => findRevocationSigner(call, await ownPackage(call, db), db),

  async run(call, tx, { form, agentId }) {
    const { body, caller, now, context, params, text } = call
    const key = statementKey(call, agentId)
    const [keys, statuses] = await Promise.all([holdKeys(tx, [key]), agentStatuses(tx, [agentId])])
    if (statuses.get(agentId) !== 'active') throw new Problem('not_permitted', { reason: 'agent_not_active' })
    requireSigningKey(keys.get(lockNameOf(key)), { claimedAt: body.requested_at, arrivedAt: now })
    const row = await lockPackage(tx, params.package_id, caller.organizationId)
    const transition = {
      trigger: 'revocation',
      kind: 'package_revoked',
      // Every signed member, so that others can verify the signature.
      proof: { ...body, signature_form: form },
      auditKinds: context.profile['O-26'].package_revoked,
      agentId,
    } as const
    const [auditEvent] = await recordTransition(tx, { row, transition, cause: call })
    const [owner] = await keepSignatures(tx, [call])
    if (owner !== row.package_id) throw new Problem('signature_reused')
    if (!auditEvent) throw new Error('a revocation without its audit event')
    const auditEventId = auditEvent.id
    await tx`
      insert into package_revocation (package_id, body, signature_form, revoked_at, audit_event_id, agent_id)
      values (${row.package_id}, ${text}, ${form}, ${now}, ${auditEventId}, ${agentId})`
    const isNative = row.transport_mode === 'native'
    const outcomes = context.profile['O-34']
    return {
      package_id: row.package_id,
      state: 'revoked',
      revoked_at: now,
      outcome: isNative ? outcomes.native_revocation_outcome : outcomes.ds_x_revocation_outcome,
      future_access_blocked: isNative,
      audit_event_id: auditEventId,
    }
  },
}

/** The recipient knows that the package exists, so it gets `not_permitted` and not `resource_not_found`. */
async function ownPackage({ caller, params }: Call<'revokePackage'>, db: Database): Promise<PackageRow> {
  const row = await findPackageOfParty(db, params.package_id, caller.organizationId)
  if (!row) throw new Problem('resource_not_found')
  if (row.sender_org_id !== caller.organizationId)
    throw new Problem('not_permitted', { reason: 'not_the_sender' })
  return row
}
