import type { Queries, Transaction } from '@agent-exchange/database'
import type { SealedBytes } from '../stores/secret-box.ts'
import { hexOf, toLeft, type CountRow, type WrappedRows } from '../stores/wrapped-rows.ts'
import { MAXIMUM_DECISIONS } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'
import type { StoredApproval } from './verify-stored-approval.ts'

/** Owner of the table draft_decision, which the database lets nobody change. */

export interface DraftDecision extends StoredApproval {
  readonly agentId: string
  readonly draftId: string
  /** Random: what the policy receipt carries. */
  readonly reference: string
  readonly personId: string
  readonly decision: 'approved' | 'declined'
  readonly reason: SealedBytes | undefined
}

/** Authenticated with the encrypted reason of a decision. */
export const reasonContext = (agentId: string, reference: string) => `decision/${agentId}/${reference}`

export async function insertDecision(tx: Transaction, row: DraftDecision): Promise<void> {
  const { agentId, draftId, reference, personId, decision, statement, reason } = row
  const { length } = await listDecisions(tx, agentId, draftId)
  if (length >= MAXIMUM_DECISIONS) throw new ApprovalProblem('decision_limit')
  await tx`
    insert into draft_decision
      (agent_id, draft_id, reference, person_id, decision, statement, client_data, authenticator_data, signature,
        passkey_id, public_key, counter_before, signed_in_at, registered_at, origin, rp_id, answered_at,
        reason_wrapped_key, reason_sealed)
    values
      (${agentId}, ${draftId}, ${reference}, ${personId}, ${decision}, ${statement}, ${row.clientData},
        ${row.authenticatorData}, ${row.signature}, ${row.passkeyId}, ${row.publicKey}, ${row.counterBefore},
        ${row.signedInAt}, ${row.registeredAt}, ${row.origin}, ${row.rpId}, ${row.answeredAt},
        ${reason?.wrappedKey ?? null}, ${reason?.sealed ?? null})`
}

/** Oldest first. */
export async function listDecisions(db: Queries, agentId: string, draftId: string): Promise<DraftDecision[]> {
  const rows = await db<DecisionRow[]>`
    select * from draft_decision where agent_id = ${agentId} and draft_id = ${draftId}
    order by number limit ${MAXIMUM_DECISIONS}`
  return rows.map(toDecision)
}

interface DecisionRow {
  readonly agent_id: string
  readonly draft_id: string
  readonly reference: string
  readonly person_id: string
  readonly decision: 'approved' | 'declined'
  readonly statement: string
  readonly client_data: Uint8Array
  readonly authenticator_data: Uint8Array
  readonly signature: Uint8Array
  readonly passkey_id: string
  readonly public_key: Uint8Array
  readonly counter_before: number
  readonly signed_in_at: string
  readonly registered_at: string
  readonly origin: string
  readonly rp_id: string
  readonly answered_at: string
  readonly reason_wrapped_key: Uint8Array | null
  readonly reason_sealed: Uint8Array | null
}

function toDecision(row: DecisionRow): DraftDecision {
  const { reason_wrapped_key: wrappedKey, reason_sealed: sealed } = row
  return {
    agentId: row.agent_id,
    draftId: row.draft_id,
    reference: row.reference,
    personId: row.person_id,
    decision: row.decision,
    statement: row.statement,
    clientData: row.client_data,
    authenticatorData: row.authenticator_data,
    signature: row.signature,
    passkeyId: row.passkey_id,
    publicKey: new Uint8Array(row.public_key),
    counterBefore: row.counter_before,
    signedInAt: row.signed_in_at,
    registeredAt: row.registered_at,
    origin: row.origin,
    rpId: row.rp_id,
    answeredAt: row.answered_at,
    reason: wrappedKey && sealed ? { wrappedKey, sealed } : undefined,
  }
}

interface WrappedReasonsRow {
  readonly agent_id: string
  readonly reference: string
  readonly reason_wrapped_key: Uint8Array
}

/** Reasons of decisions under the master key. */
export const wrappedReasons: WrappedRows = {
  what: 'reasons of decisions',
  left: async (db, marks) =>
    toLeft(
      await db<CountRow[]>`
        select count(*)::integer as count, min(encode(substring(reason_wrapped_key from 2 for 8), 'hex')) as key_id from draft_decision
        where reason_wrapped_key is not null and encode(substring(reason_wrapped_key from 1 for 9), 'hex') <> all(${hexOf(marks)}::text[])`,
    ),
  async rewrap(tx, box, page) {
    const rows = await tx<WrappedReasonsRow[]>`
      select agent_id, reference, reason_wrapped_key from draft_decision
      where reason_wrapped_key is not null and reference > ${page.after[0]}
        and encode(substring(reason_wrapped_key from 1 for 9), 'hex') <> all(${hexOf([box.currentMark()])}::text[])
      order by reference limit ${page.limit} for update`
    // The wrapping is no part of a decision: the guard of the table is off for this transaction alone.
    if (rows.length > 0) await tx`alter table draft_decision disable trigger draft_decision_is_append_only`
    for (const row of rows)
      await tx`
        update draft_decision set reason_wrapped_key = ${box.rewrap(reasonContext(row.agent_id, row.reference), row.reason_wrapped_key)}
        where reference = ${row.reference}`
    if (rows.length > 0) await tx`alter table draft_decision enable trigger draft_decision_is_append_only`
    const last = rows.at(-1)
    return { rewrapped: rows.length, last: last && [last.reference, ''] }
  },
}
