import { verifyPolicyReceipt } from '@agent-exchange/crypto'
import { isApproved, isEligible, type PolicyReceipt } from '@agent-exchange/protocol'
import { deferToCommit } from '@agent-exchange/database'
import type { BatchMutation, Call } from '../../kernel/call.ts'
import { Problem, resultOrProblem } from '../../kernel/problem.ts'
import { requireActingAs } from '../../kernel/roles.ts'
import { packageTarget, toAuditEvent, traceOf } from '../audit/audit-event.ts'
import { toEntryText, toLines, type EntryDraft } from '../audit/entry-text.ts'
import { holdKeys, lockNameOf, publicKeyOf, verified } from '../keys/public-keys.ts'
import { requireSigningKey } from '../keys/signing-key.ts'
import {
  addUsage,
  requireWithin,
  unusedPolicyReceipts,
  type UsageChange,
} from '../organizations/usage-store.ts'
import { insertPolicyReceipts, toPolicyReceiptResource, type PolicyReceiptRow } from './store.ts'

/** POL-01 to POL-03: every validly signed receipt is stored; `package_authorization` says whether it is eligible. */
export const createPolicyReceipt: BatchMutation<'createPolicyReceipt'> = {
  async authorize({ caller, body }, db) {
    requireActingAs(caller, body.sender_org_id, body.sender_agent_id)
    const key = await publicKeyOf(db, body.sender_org_id, signingKeyOf(body))
    await verified(verifyPolicyReceipt(body, key))
  },

  queue: 'policy_receipts',
  async runBatch(calls, tx) {
    const [keys, unused] = await Promise.all([
      holdKeys(
        tx,
        calls.map(({ call }) => signingKeyOf(call.body)),
      ),
      unusedPolicyReceipts(
        tx,
        calls.map(({ call }) => call.body.sender_org_id),
      ),
    ])
    const rows = calls.map(({ call }) =>
      resultOrProblem(() => {
        const { body, now, context } = call
        requireSigningKey(keys.get(lockNameOf(signingKeyOf(body))), {
          claimedAt: body.evaluated_at,
          arrivedAt: now,
        })
        const count = (unused.get(body.sender_org_id) ?? 0) + 1
        requireWithin(context.profile, 'unused_policy_receipts', count)
        unused.set(body.sender_org_id, count)
        return toRow(call)
      }),
    )
    const inserted = await insertPolicyReceipts(
      tx,
      rows.flatMap((row) => (row instanceof Problem ? [] : [row])),
    )
    const results = rows.map((row) => {
      if (row instanceof Problem) return row
      // Of two with the same id in one batch, the first was inserted.
      const isInserted = inserted.delete(row.policy_receipt_id)
      return isInserted ? row : new Problem('identifier_conflict')
    })
    const stored = results.flatMap((row) => (row instanceof Problem ? [] : [row]))
    deferToCommit(tx, addUsage(tx, stored.map(usageOf)))
    return results.map((row) => (row instanceof Problem ? row : toPolicyReceiptResource(row)))
  },
}

function usageOf({ sender_org_id }: PolicyReceiptRow): UsageChange {
  return { organizationId: sender_org_id, policyReceipts: 1 }
}

function toRow(call: Call<'createPolicyReceipt'>): PolicyReceiptRow {
  const { body, now, text, context } = call
  const entries = auditEntries(call)
  return {
    policy_receipt_id: body.policy_receipt_id,
    package_id: body.package_id,
    thread_id: body.thread_id,
    sender_org_id: body.sender_org_id,
    recipient_org_id: body.recipient_org_id,
    body: text,
    accepted_at: now,
    eligible: isEligible(body, context.profile),
    audit_event_id: entries.find(({ event }) => event)?.event?.id ?? '',
    audit_entries: toLines(entries.map(toEntryText)),
    signing_key_id: body.signature.key_id,
  }
}

function signingKeyOf(receipt: PolicyReceipt) {
  return { agentId: receipt.sender_agent_id, keyId: receipt.signature.key_id }
}

function auditEntries(call: Call<'createPolicyReceipt'>): EntryDraft[] {
  const { body, context, now } = call
  const fact = {
    threadId: body.thread_id,
    agentId: body.sender_agent_id,
    target: packageTarget(body.package_id, context),
    policyId: body.policy_id,
  }
  const proof = {
    // The entries are recorded later, when a package links them into a chain.
    accepted_at: now,
    policy_receipt_id: body.policy_receipt_id,
    content_digest: body.content_digest,
    policy_digest: body.policy_digest,
    signature: body.signature,
  }
  const kinds = context.profile['O-26']
  const trace = traceOf(call)
  const evaluated = kinds.policy_receipt_accepted.map((eventType) => ({
    event: toAuditEvent(
      { ...fact, eventType, decision: isEligible(body, context.profile) ? 'eligible' : 'ineligible' },
      call,
      trace,
    ),
    proof: { kind: 'policy_receipt_accepted', ...proof },
  }))
  const approved = isApproved(body, context.profile)
    ? kinds.approval_recorded.map((eventType) => ({
        event: toAuditEvent({ ...fact, eventType, decision: 'approved' }, call, trace),
        proof: { kind: 'approval_recorded', ...proof, approved_at: body.human_approval.approved_at },
      }))
    : []
  return [...evaluated, ...approved]
}
