import { randomUUID } from 'node:crypto'
import type { Queries } from '@agent-exchange/database'
import type { Sensitivity } from '@agent-exchange/sdk/internal'
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

export interface ByPerson {
  /** Who is responsible for the change. */
  readonly by: string
  readonly now: Date
}

export async function addRule(db: Queries, terms: RuleTerms, { by, now }: ByPerson): Promise<ApprovalRule> {
  const rule = { ...terms, ruleId: `rule_${randomUUID()}`, addedBy: by, addedAt: now.toISOString() }
  const { ruleId, partner, policyId, packageType, sensitivity, people, approvers, addedAt } = rule
  const { count } = await db`
    insert into approval_rule
      (rule_id, partner, policy_id, package_type, sensitivity, people, approvers, added_by, added_at)
    select ${ruleId}, ${partner}, ${policyId}, ${packageType}, ${sensitivity}, ${people}, ${[...approvers]}, ${by},
      ${addedAt}
    where (select count(*) from approval_rule where removed_at is null) < ${MAXIMUM_RULES}`
  if (count === 0) throw new ApprovalProblem('rule_limit')
  return rule
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
export async function removeRule(db: Queries, ruleId: string, { by, now }: ByPerson): Promise<boolean> {
  const { count } = await db`
    update approval_rule set removed_by = ${by}, removed_at = ${now.toISOString()}
    where rule_id = ${ruleId} and removed_at is null`
  return count > 0
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
