import { randomUUID } from 'node:crypto'
import type { Database, Queries, Transaction } from '@agent-exchange/database'
import type { Sensitivity } from '@agent-exchange/sdk/internal'
import { recordChange, type ByActor } from '../people/administration-record.ts'
import { requirePeople } from './approver-checks.ts'
import { MAXIMUM_RULES } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'

/** Owner of the table approval_rule. */

/** Null: any. A draft needs what every rule that fits it asks for. */
export interface RuleTerms {
  /** Organization that receives. */
  readonly partner: string | null
  readonly policyId: string | null
  /** One of the package types, or the type of another object. */
  readonly packageType: string | null
  /** A fact is at least this sensitive. */
  readonly sensitivity: Sensitivity | null
  readonly people: number
  /** Empty: everybody with the role approver. */
  readonly approvers: readonly string[]
}

export interface ApprovalRule extends RuleTerms {
  readonly ruleId: string
  readonly addedBy: string
  readonly addedAt: string
}

/** Fails with `person_unknown` if an approver is not here. */
export function addRule(db: Database, terms: RuleTerms, { actor, now }: ByActor): Promise<ApprovalRule> {
  const rule = { ...terms, ruleId: `rule_${randomUUID()}`, addedBy: actor.id, addedAt: now.toISOString() }
  return db.begin(async (tx) => {
    await requirePeople(tx, rule.approvers)
    await insertRule(tx, rule)
    const { ruleId: target, addedAt: at, addedBy: _, ...details } = rule
    await recordChange(tx, { at, actor, action: 'rule.add', target, details })
    return rule
  })
}

async function insertRule(tx: Transaction, rule: ApprovalRule): Promise<void> {
  const { ruleId, partner, policyId, packageType, sensitivity, people, approvers, addedBy, addedAt } = rule
  const { count } = await tx`
    insert into approval_rule
      (rule_id, partner, policy_id, package_type, sensitivity, people, approvers, added_by, added_at)
    select ${ruleId}, ${partner}, ${policyId}, ${packageType}, ${sensitivity}, ${people}, ${[...approvers]}, ${addedBy},
      ${addedAt}
    where (select count(*) from approval_rule where removed_at is null) < ${MAXIMUM_RULES}`
  if (count === 0) throw new ApprovalProblem('rule_limit')
}

export async function listRules(db: Queries): Promise<ApprovalRule[]> {
  const rows = await db<RuleRow[]>`
    select * from approval_rule where removed_at is null order by added_at, rule_id limit ${MAXIMUM_RULES}`
  return rows.map((row) => ({
    ruleId: row.rule_id,
    partner: row.partner,
    policyId: row.policy_id,
    packageType: row.package_type,
    sensitivity: row.sensitivity,
    people: row.people,
    approvers: row.approvers,
    addedBy: row.added_by,
    addedAt: row.added_at,
  }))
}

/** False if there is no such rule. */
export function removeRule(db: Database, ruleId: string, { actor, now }: ByActor): Promise<boolean> {
  const at = now.toISOString()
  return db.begin(async (tx) => {
    const { count } = await tx`
      update approval_rule set removed_by = ${actor.id}, removed_at = ${at}
      where rule_id = ${ruleId} and removed_at is null`
    if (count > 0) await recordChange(tx, { at, actor, action: 'rule.remove', target: ruleId })
    return count > 0
  })
}

interface RuleRow {
  readonly rule_id: string
  readonly partner: string | null
  readonly policy_id: string | null
  readonly package_type: string | null
  readonly sensitivity: Sensitivity | null
  readonly people: number
  readonly approvers: readonly string[]
  readonly added_by: string
  readonly added_at: string
}
