import { validateObject, type DeploymentProfile, type Failure } from '@agent-exchange/protocol'
import { inObject, inPolicy, type PolicyCheck } from './policy-check.ts'

/** Object and policy are valid, and the object names this policy for this purpose. */
export const checkObjectSchema: PolicyCheck = ({ object, policy, profile }) => {
  const invalid = [...failuresOf(object, '/object', profile), ...failuresOf(policy, '/policy', profile)]
  if (invalid.length > 0) return invalid
  if (policy.object_type !== 'policy_envelope')
    return [inPolicy('/object_type', 'object_schema', 'Give a policy_envelope as the policy.')]
  if (object.object_type !== 'reasoning_package' && object.object_type !== 'response_object') return []
  const { policy_id, purpose } = object.policy_envelope
  return [
    ...(policy_id === policy.policy_id ? [] : [differs('/policy_envelope/policy_id', 'policy_id')]),
    ...(purpose === policy.purpose ? [] : [differs('/policy_envelope/purpose', 'purpose')]),
  ]
}

function failuresOf(value: unknown, place: string, profile: DeploymentProfile | undefined): Failure[] {
  return validateObject(value, profile).failures.map((failure) => ({
    ...failure,
    pointer: `${place}${failure.pointer}`,
  }))
}

function differs(pointer: string, member: string): Failure {
  return inObject(pointer, 'object_schema', `Use the ${member} of the policy that it is sent under.`)
}
