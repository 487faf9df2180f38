import { POLICY_CHECK_IDS, type Failure } from '@agent-exchange/protocol'
import { checkObjectSchema } from './object-schema.ts'
import type { PolicyCheck, PolicyCheckId, PolicySubject } from './policy-check.ts'
import { checkProhibitedDisclosure } from './prohibited-disclosure.ts'
import { checkRecipientAuthorization } from './recipient-authorization.ts'
import { checkRetentionAndForwarding } from './retention-and-forwarding.ts'
import { checkSkillProfile } from './skill-profile.ts'

const CHECKS: Readonly<Record<PolicyCheckId, PolicyCheck>> = {
  object_schema: checkObjectSchema,
  skill_profile: checkSkillProfile,
  prohibited_disclosure: checkProhibitedDisclosure,
  recipient_authorization: checkRecipientAuthorization,
  retention_and_forwarding: checkRetentionAndForwarding,
}

export interface CheckResult {
  readonly checkId: PolicyCheckId
  readonly passed: boolean
  /** False if `object_schema` failed and the check needs a valid object. Such a check has not passed. */
  readonly judged: boolean
  /** Violations: where, and what to do. */
  readonly failures: readonly Failure[]
}

export interface PolicyEvaluation {
  readonly passed: boolean
  /** The five checks, in the order of the specification. */
  readonly checks: readonly CheckResult[]
  readonly approvalRequired: boolean
}

/**
 * POL-02, POL-03: the agent's five checks before sealing. The protocol names the checks and leaves their content to the
 * agent; what each verifies is ours. Pure: no request, no clock.
 *
 * @example
 * const { passed, checks } = evaluatePolicy({ object, policy, recipient, recipientAgent, skill, evaluatedAt })
 * for (const { checkId, failures } of checks) for (const { pointer, message } of failures) console.log(checkId, pointer, message)
 */
export function evaluatePolicy(subject: PolicySubject): PolicyEvaluation {
  const schema = result('object_schema', CHECKS.object_schema(subject))
  // The other checks read members that only a valid object has.
  const checks = POLICY_CHECK_IDS.map((checkId) => {
    if (checkId === 'object_schema') return schema
    return schema.passed ? result(checkId, CHECKS[checkId](subject)) : unjudged(checkId)
  })
  const passed = checks.every((check) => check.passed)
  return { passed, checks, approvalRequired: schema.passed && isApprovalRequired(subject) }
}

function result(checkId: PolicyCheckId, failures: readonly Failure[]): CheckResult {
  return { checkId, passed: failures.length === 0, judged: true, failures }
}

function unjudged(checkId: PolicyCheckId): CheckResult {
  const message = 'Not evaluated: fix the failures of object_schema first.'
  return { checkId, passed: false, judged: false, failures: [{ pointer: '', rule: checkId, message }] }
}

/** Policy or package may require an approval. */
export function isApprovalRequired({ object, policy }: Pick<PolicySubject, 'object' | 'policy'>): boolean {
  if (policy.human_approval.required) return true
  return object.object_type === 'reasoning_package' && object.policy_envelope.human_approval.required
}
