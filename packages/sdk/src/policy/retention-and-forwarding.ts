import { isEarlier, type Failure } from '@agent-exchange/protocol'
import { inObject, type PolicyCheck, type PolicySubject } from './policy-check.ts'

const RULE = 'retention_and_forwarding'
export const DAY_MILLISECONDS = 86_400_000

/** Permissions and retention of the object are within the policy. */
export const checkRetentionAndForwarding: PolicyCheck = (subject) => {
  const { object, policy } = subject
  const failures: Failure[] = expiryFailures(subject)
  if (object.object_type !== 'reasoning_package') return failures
  const { retention_days, forwarding_allowed } = object.boundaries
  if (retention_days > policy.retention.duration_days)
    failures.push(inObject('/boundaries/retention_days', RULE, 'Use at most what the policy allows.'))
  if (forwarding_allowed && !policy.forwarding.allowed)
    failures.push(inObject('/boundaries/forwarding_allowed', RULE, 'The policy allows no forwarding.'))
  return failures
}

/** Ours: content expires no later than the policy's retention. */
function expiryFailures({ expiresAt, evaluatedAt, policy }: PolicySubject): Failure[] {
  if (expiresAt === undefined) return []
  const at = '/expires_at'
  if (isEarlier(evaluatedAt, expiresAt) !== true)
    return [{ pointer: at, rule: RULE, message: 'Use a time in the future.' }]
  const days = (Date.parse(expiresAt) - Date.parse(evaluatedAt)) / DAY_MILLISECONDS
  return days > policy.retention.duration_days
    ? [{ pointer: at, rule: RULE, message: 'Use a time within the retention of the policy.' }]
    : []
}
