import type { Failure } from '@agent-exchange/protocol'
import { inObject, inPolicy, type PolicyCheck } from './policy-check.ts'

const RULE = 'recipient_authorization'

/** The policy allows the organization and the requested action, and the object is addressed to it. */
export const checkRecipientAuthorization: PolicyCheck = ({ object, policy, recipient, recipientAgent }) => {
  const failures: Failure[] = []
  const { organizationId, agentId } = recipient
  if (recipientAgent.organization_id !== organizationId || recipientAgent.agent_id !== agentId) {
    const message = 'The directory shows this agent under another organization.'
    failures.push({ pointer: '/recipient/organization_id', rule: RULE, message })
  }
  if (!policy.allowed_recipients.includes(organizationId))
    failures.push(inPolicy('/allowed_recipients', RULE, 'The recipient organization is not among these.'))
  if (object.object_type !== 'reasoning_package') return failures
  if (!object.recipients.some(({ organization_id }) => organization_id === organizationId))
    failures.push(inObject('/recipients', RULE, 'List the organization that it is sent to.'))
  if (object.response_required.required && !policy.allowed_actions.includes('respond'))
    failures.push(inPolicy('/allowed_actions', RULE, 'A response is required, and the policy allows none.'))
  return failures
}
