import { ENVELOPE_MEMBERS, type ObjectType, type PolicyEnvelope } from '@agent-exchange/protocol'
import { newObject, type ObjectTerms } from '@agent-exchange/sdk/internal'
import { ToolRefusal } from '../server/tool-failure.ts'

/** Objects that a model may write. A policy is written by a person. */
export const DRAFTED_TYPES = ['reasoning_package', 'network_story', 'loop_thread', 'audit_event'] as const
export type DraftedType = (typeof DRAFTED_TYPES)[number] | 'response_object'

/** Members that the server fills in. They say who writes to whom, and when, so a model cannot set them. */
export const FILLED_MEMBERS: readonly string[] = [
  ...ENVELOPE_MEMBERS,
  'sender',
  'recipients',
  'actor',
  'policy_envelope',
  'responds_to_package_id',
]

/** Members with a usual value, which the model may replace. The others are the content, and have no default. */
const REPLACEABLE = ['occurred_at', 'story_version', 'status', 'lifecycle', 'participants'] as const

export interface DraftTerms extends ObjectTerms {
  readonly policy: PolicyEnvelope
}

/**
 * The object of a draft: envelope and parties from the agent and its policy, everything else from the model. Validated
 * when the draft is stored, so a missing member is named by its pointer.
 */
export function draftObject(
  type: DraftedType,
  content: Readonly<Record<string, unknown>>,
  terms: DraftTerms,
): Record<string, unknown> {
  const refused = Object.keys(content).filter((name) => FILLED_MEMBERS.includes(name))
  if (refused.length > 0)
    throw new ToolRefusal('input_invalid', `Leave out ${refused.join(', ')}: the server fills them in.`)
  const template = newObject(type as ObjectType, { ...terms, policyId: terms.policy.policy_id }) as object
  const kept = Object.entries(template).filter(([name]) =>
    [...FILLED_MEMBERS, ...REPLACEABLE].some((member) => member === name),
  )
  return { ...Object.fromEntries(kept), ...policyMembers(type, terms.policy), ...content }
}

/** What the object says about its own policy. */
function policyMembers(type: DraftedType, policy: PolicyEnvelope): Record<string, unknown> {
  const { policy_id, purpose, human_approval: approval, granularity, retention, forwarding } = policy
  const boundaries = { disclosure_level: granularity.level, not_disclosed: [] }
  if (type === 'response_object') return { boundaries, policy_envelope: { policy_id, purpose } }
  if (type !== 'reasoning_package') return {}
  return {
    boundaries: {
      ...boundaries,
      retention_days: retention.duration_days,
      forwarding_allowed: forwarding.allowed,
    },
    policy_envelope: {
      policy_id,
      purpose,
      human_approval: { required: approval.required, approval_id: approval.approval_id || 'none' },
    },
  }
}
