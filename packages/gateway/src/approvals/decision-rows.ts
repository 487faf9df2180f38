import type { Queries, Transaction } from '@agent-exchange/database'
import type { SealedBytes } from '../stores/secret-box.ts'
import { wrappedColumn } from '../stores/wrapped-rows.ts'
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

/** Reasons of decisions under the master key. The wrapping is no part of a decision, which nobody can change. */
export const wrappedReasons = wrappedColumn('draft_decision', {
  what: 'reasons of decisions',
  column: 'reason_wrapped_key',
  key: ['reference'],
  beside: ['agent_id'],
  contextOf: ({ agent_id, reference }) => reasonContext(agent_id, reference),
  guard: 'draft_decision_is_append_only',
})
