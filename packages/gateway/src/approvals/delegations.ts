import { randomUUID } from 'node:crypto'
import type { Database, Queries } from '@agent-exchange/database'
import { MAXIMUM_DELEGATION_MS, MAXIMUM_DELEGATIONS } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'
import { recordChange, type ByActor } from '../people/administration-record.ts'
import { isApprover, requirePeople } from './approver-checks.ts'

/** Owner of the table approval_delegation. */

/** `from` lets `to` approve, from `startsAt` and before `endsAt`. It cannot be passed on. */
export interface Delegation {
  readonly delegationId: string
  readonly from: string
  readonly to: string
  readonly startsAt: string
  readonly endsAt: string
  readonly addedBy: string
}

export interface DelegationTerms {
  readonly from: string
  readonly to: string
  readonly endsAt: Date
}

/** `from` has to be an approver. Whether it still is counts again at each decision and at `send`. */
export async function addDelegation(
  db: Database,
  { from, to, endsAt }: DelegationTerms,
  { actor, now }: ByActor,
): Promise<Delegation> {
  if (from === to) throw new ApprovalProblem('delegation_same')
  const lasts = endsAt.getTime() - now.getTime()
  if (!(lasts > 0 && lasts <= MAXIMUM_DELEGATION_MS)) throw new ApprovalProblem('delegation_time')
  const delegationId = `delegation_${randomUUID()}`
  const [start, end] = [now.toISOString(), endsAt.toISOString()]
  return db.begin(async (tx) => {
    await requirePeople(tx, [from, to])
    if (!(await isApprover(tx, from))) throw new ApprovalProblem('delegator_not_approver')
    const { count } = await tx`
      insert into approval_delegation (delegation_id, from_person, to_person, starts_at, ends_at, added_by)
      select ${delegationId}, ${from}, ${to}, ${start}, ${end}, ${actor.id}
      where (select count(*) from approval_delegation where ends_at > ${start}) < ${MAXIMUM_DELEGATIONS}`
    if (count === 0) throw new ApprovalProblem('delegation_limit')
    const details = { from, to, until: end }
    await recordChange(tx, { at: start, actor, action: 'delegation.add', target: delegationId, details })
    return { delegationId, from, to, startsAt: start, endsAt: end, addedBy: actor.id }
  })
}

/** Those that have not ended. */
export async function listDelegations(db: Queries, now: Date): Promise<Delegation[]> {
  const rows = await db<DelegationRow[]>`
    select * from approval_delegation where ends_at > ${now.toISOString()}
    order by ends_at, delegation_id limit ${MAXIMUM_DELEGATIONS}`
  return rows.map(toDelegation)
}

/** Ends it now. False if it has ended, or there is none. */
export function endDelegation(db: Database, delegationId: string, { actor, now }: ByActor): Promise<boolean> {
  const at = now.toISOString()
  return db.begin(async (tx) => {
    const { count } = await tx`
      update approval_delegation set ends_at = ${at}, ended_by = ${actor.id}
      where delegation_id = ${delegationId} and ends_at > ${at}`
    if (count > 0) await recordChange(tx, { at, actor, action: 'delegation.end', target: delegationId })
    return count > 0
  })
}

/** People who let this one approve at that time. */
export async function delegatorsOf(db: Queries, personId: string, at: string): Promise<string[]> {
  const rows = await db<{ from_person: string }[]>`
    select distinct from_person from approval_delegation
    where to_person = ${personId} and starts_at <= ${at} and ends_at > ${at}
    order by from_person limit ${MAXIMUM_DELEGATIONS}`
  return rows.map(({ from_person }) => from_person)
}

interface DelegationRow {
  readonly delegation_id: string
  readonly from_person: string
  readonly to_person: string
  readonly starts_at: string
  readonly ends_at: string
  readonly added_by: string
}

const toDelegation = (row: DelegationRow): Delegation => ({
  delegationId: row.delegation_id,
  from: row.from_person,
  to: row.to_person,
  startsAt: row.starts_at,
  endsAt: row.ends_at,
  addedBy: row.added_by,
})
