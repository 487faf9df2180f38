import { createHash } from 'node:crypto'
import { canonicalBytes } from '@agent-exchange/crypto'
import type { Queries } from '@agent-exchange/database'
import type { PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'
import type { StoredDraft } from '@agent-exchange/sdk'
import { hasSensitivity, type DraftSubject } from '@agent-exchange/sdk/internal'
import { listRules, type ApprovalRule } from './approval-rules.ts'
import { hasAuthor } from './draft-authors.ts'

/** What a decision is about. */
export interface DraftFacts {
  readonly draftId: string
  readonly digest: string
  readonly createdAt: string
  readonly recipient: { readonly organization_id: string; readonly agent_id: string }
  readonly policy: PolicyEnvelope
  readonly object: ProtocolObject
}

export function factsOfSubject({ record, digest }: DraftSubject): DraftFacts {
  const { recipient, policy, object } = record.content
  return { draftId: record.draft_id, digest, createdAt: record.created_at, recipient, policy, object }
}

export function factsOfDraft(draft: StoredDraft): DraftFacts {
  const { draftId, digest, createdAt, policy, object, recipient } = draft
  const { organizationId: organization_id, agentId: agent_id } = recipient
  return { draftId, digest, createdAt, recipient: { organization_id, agent_id }, policy, object }
}

export type ApprovalNeed = Pick<ApprovalRule, 'people' | 'approvers'>

/** What approvers of a draft have to fulfil. */
export interface EffectiveRules {
  /** All of them. One approver if no rule fits. */
  readonly needs: readonly ApprovalNeed[]
  /** Otherwise whoever approves may have written it, so that two people have to. */
  readonly isAuthorKnown: boolean
  /** Whether a rule fits, so that a person is needed whatever the policy says. */
  readonly isRuled: boolean
  /** SHA-256 over RFC 8785 of the rules that fit. A decision is void when they change. */
  readonly digest: string
}

const DEFAULT_NEED: ApprovalNeed = { people: 1, approvers: [] }
const NEED_WITHOUT_AUTHOR: ApprovalNeed = { people: 2, approvers: [] }

/** Those of the rules, and that of a draft whose author is not known. */
export const allNeeds = ({ needs, isAuthorKnown }: EffectiveRules): readonly ApprovalNeed[] =>
  isAuthorKnown ? needs : [...needs, NEED_WITHOUT_AUTHOR]

export async function readEffectiveRules(
  db: Queries,
  agentId: string,
  facts: DraftFacts,
): Promise<EffectiveRules> {
  const fitting = (await listRules(db)).filter((rule) => fits(rule, facts))
  return {
    needs: fitting.length > 0 ? fitting : [DEFAULT_NEED],
    isAuthorKnown: await hasAuthor(db, agentId, facts.draftId),
    isRuled: fitting.length > 0,
    digest: digestOfRules(fitting),
  }
}

function digestOfRules(rules: readonly ApprovalRule[]): string {
  const signed = rules.map(({ ruleId, partner, policyId, packageType, sensitivity, people, approvers }) => ({
    rule_id: ruleId,
    partner,
    policy_id: policyId,
    package_type: packageType,
    sensitivity,
    people,
    approvers: [...approvers],
  }))
  return digestOf({ tag: 'aex-approval-rules/1', rules: signed })
}

function fits(rule: ApprovalRule, { recipient, policy, object }: DraftFacts): boolean {
  const { partner, policyId, packageType, sensitivity } = rule
  return (
    (partner === null || partner === recipient.organization_id) &&
    (policyId === null || policyId === policy.policy_id) &&
    (packageType === null || packageType === packageTypeOf(object)) &&
    (sensitivity === null || hasSensitivity(object, sensitivity))
  )
}

const packageTypeOf = (object: ProtocolObject) =>
  object.object_type === 'reasoning_package' ? object.package_type : object.object_type

/** SHA-256 over RFC 8785, as base64url. */
export function digestOf(value: object): string {
  return createHash('sha256').update(canonicalBytes(value)).digest('base64url')
}
