import type { StatementForm } from '@agent-exchange/crypto'
import type { EdcReferences, PackageTrigger, ReceiptResource, ReceiptState } from '@agent-exchange/protocol'
import type { Transaction } from '../../db/database.ts'
import type { Call, Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { lockPackage, recordFact } from './move.ts'
import { keepSignature, requireStatementKey, verifyStatement } from './statements.ts'
import type { PackageRow } from './store.ts'

/** What the recipient says moves the package; that it rejected or failed is recorded and moves nothing. */
const TRIGGERS: Partial<Record<ReceiptState, PackageTrigger>> = {
  received: 'receipt_received',
  opened: 'receipt_opened',
}

/** PKG-08: signed by the recipient agent. */
export const createPackageReceipt: Mutation<'createPackageReceipt', StatementForm> = {
  authorize: (call, db) => verifyStatement(call, call.body.actor_agent_id, db),

  async run(call, tx, form) {
    const { body, caller, now, context } = call
    await requireStatementKey(tx, call, body.actor_agent_id, body.occurred_at)
    const row = await lockPackage(tx, call.params.package_id, caller.organizationId)
    if (row.recipient_agent_id !== body.actor_agent_id)
      throw new Problem('not_permitted', { reason: 'not_the_recipient' })
    requireDigest(row, call)
    if (row.state === 'revoked') throw new Problem('invalid_state_transition', { state: row.state })
    await keepSignature(tx, call)
    await insertReceipt(tx, call, form)
    const { state, ...statement } = body
    await recordFact(
      tx,
      row,
      {
        trigger: TRIGGERS[state],
        kind: `receipt_${state}`,
        // All that was signed (the kind says the state), or nobody else could verify it.
        proof: { ...statement, signature_form: form },
        auditKinds: state === 'received' ? context.profile['O-26'].receipt_received : [],
        agentId: body.actor_agent_id,
      },
      call,
    )
    return { ...body, package_id: row.package_id, accepted_at: now } satisfies ReceiptResource
  },
}

/** O-23: the receipt names what was received by its digest. */
function requireDigest(row: PackageRow, { body, context }: Call<'createPackageReceipt'>): void {
  const known = { content_digest: row.content_digest, asset_digest: assetDigest(row) }
  const accepted =
    row.transport_mode === 'native' ? (['content_digest'] as const) : context.profile['O-23'].ds_x_digests
  if (!accepted.some((name) => known[name] === body.package_digest)) {
    throw new Problem('digest_mismatch', { member: 'package_digest' })
  }
}

function assetDigest({ edc }: PackageRow): string | undefined {
  return edc === null ? undefined : (JSON.parse(edc) as EdcReferences).asset_digest
}

async function insertReceipt(
  tx: Transaction,
  call: Call<'createPackageReceipt'>,
  form: StatementForm,
): Promise<void> {
  const { body, params, now, bytes } = call
  const inserted = await tx`
    insert into package_receipt (package_id, receipt_id, state, body, signature_form, accepted_at)
    values (${params.package_id}, ${body.receipt_id}, ${body.state}, ${Buffer.from(bytes).toString('utf8')}, ${form}, ${now})
    on conflict do nothing`
  if (inserted.count === 0) throw new Problem('identifier_conflict')
}
