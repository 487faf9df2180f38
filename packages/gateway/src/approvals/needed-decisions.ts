import type { Queries } from '@agent-exchange/database'
import { APPROVAL_MAXIMUM_AGE_MS } from '@agent-exchange/sdk/internal'
import type { StoredDraft } from '@agent-exchange/sdk'
import { ApprovalProblem } from './approval-problem.ts'
import { principalOf, type DecidingPerson } from './approving-people.ts'
import { listDecisions } from './decision-rows.ts'
import { factsOfDraft, readEffectiveRules } from './effective-rules.ts'
import { countingApprovals, judgeDecisions, wouldCount } from './judge-decisions.ts'
import { findRelyingParty } from './relying-party.ts'

export interface NeedsParts {
  readonly db: Queries
  readonly publicUrl: string
  readonly now: () => Date
}

/** Whether an approval of this person is missing: one that the rules permit, and that would count now. */
export async function isNeeded(
  { db, publicUrl, now }: NeedsParts,
  person: DecidingPerson,
  { agentId, draft }: { readonly agentId: string; readonly draft: StoredDraft },
): Promise<boolean> {
  const facts = factsOfDraft(draft)
  const { draftId } = facts
  const [rules, at] = [await readEffectiveRules(db, agentId, facts), now()]
  const principal = await principalOf(db, person, { agentId, draftId, rules, at }).catch((error: unknown) => {
    if (error instanceof ApprovalProblem) return undefined
    throw error
  })
  if (principal === undefined) return false
  const decisions = await listDecisions(db, agentId, draftId)
  const party = findRelyingParty(publicUrl)
  const circumstances = { agentId, party, now: at, maximumAgeMs: APPROVAL_MAXIMUM_AGE_MS }
  const judged = await judgeDecisions(db, decisions, { facts, rules }, circumstances)
  const { personId: approver } = person
  const added = { approver, ...(principal !== approver && { on_behalf_of: principal }) }
  return wouldCount(added, countingApprovals(judged), rules)
}
