import type { PolicyReceipt } from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { PolicyEvaluation } from '../policy/evaluate-policy.ts'
import type { Draft } from './send-input.ts'

/** Requests the approval that the policy or the package requires. Its outcome goes into the policy receipt. */
export async function obtainApproval(
  context: AgentContext,
  draft: Draft,
  { checks, approvalRequired }: PolicyEvaluation,
): Promise<PolicyReceipt['human_approval']> {
  const { packageId, object, policy, to, threadId, approve, requireApproval = false } = draft
  if (!approvalRequired && !requireApproval) return { required: false }
  if (!approve) throw new ExchangeError('approval_missing', { details: { packageId } })
  const answer = await approve({
    packageId,
    threadId,
    sender: context.identity,
    recipient: to,
    policyId: policy.policy_id,
    purpose: policy.purpose,
    checks,
    // A copy: the callback cannot change what is sealed.
    object: structuredClone(object),
    requestedAt: context.now().toISOString(),
  })
  if (!answer.approved) throw new ExchangeError('approval_declined', { details: { packageId } })
  return {
    required: true,
    outcome: context.deployment.profile['O-34'].approving_outcomes[0] ?? 'approved',
    // POL-03: an approval without a reference does not count, and a policy may leave its own empty.
    approval_reference: answer.approvalReference || namedApproval(draft) || randomId('approval'),
    approved_at: answer.approvedAt ?? context.now().toISOString(),
  }
}

/** The approval id in the package or the policy. */
function namedApproval({ object, policy }: Draft): string {
  return object.object_type === 'reasoning_package'
    ? object.policy_envelope.human_approval.approval_id
    : policy.human_approval.approval_id
}
