import type { Queries } from '@agent-exchange/database'
import { ApprovalProblem } from './approval-problem.ts'
import { isApprover } from './approver-checks.ts'
import { delegatorsOf } from './delegations.ts'
import { personsWhoDrafted } from './draft-authors.ts'
import { allNeeds, type EffectiveRules } from './effective-rules.ts'

/** A person with a session, and whether it has the role approver now. */
export interface DecidingPerson {
  readonly personId: string
  readonly isApprover: boolean
}

/**
 * In whose place the person decides: its own, or that of an approver who lets it decide until a day. Fails with an
 * {@link ApprovalProblem} if this person may not decide.
 */
export async function principalOf(
  db: Queries,
  person: DecidingPerson,
  about: {
    readonly agentId: string
    readonly draftId: string
    readonly rules: EffectiveRules
    readonly at: Date
  },
): Promise<string> {
  const { personId } = person
  const { agentId, draftId, rules, at } = about
  const drafters = await personsWhoDrafted(db, agentId, draftId)
  if (drafters.includes(personId)) throw new ApprovalProblem('drafter')
  const isNamed = (each: string) =>
    allNeeds(rules).some(({ approvers }) => approvers.length === 0 || approvers.includes(each))
  if (person.isApprover && isNamed(personId)) return personId
  for (const each of await delegatorsOf(db, personId, at.toISOString()))
    if (isNamed(each) && !drafters.includes(each) && (await isApprover(db, each))) return each
  throw new ApprovalProblem('not_an_approver')
}
