import type { Queries } from '@agent-exchange/database'
import { findPerson } from '../people/person-rows.ts'
import { ApprovalProblem } from './approval-problem.ts'

/** Whether the person is here and has the role approver now. */
export async function isApprover(db: Queries, personId: string): Promise<boolean> {
  return (await findPerson(db, personId))?.roles.includes('approver') === true
}

/** Fails with `person_unknown` if one of them is not here. */
export async function requirePeople(db: Queries, personIds: readonly string[]): Promise<void> {
  for (const personId of personIds)
    if (!(await findPerson(db, personId))) throw new ApprovalProblem('person_unknown')
}
