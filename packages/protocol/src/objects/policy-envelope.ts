import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { ifThen } from '../schema/conditional.ts'
import { define } from '../schema/define.ts'
import { startsWith } from '../schema/shared.ts'
import { commonEnvelope, protocolObject } from './common-envelope.ts'

const nobody = {
  type: 'array',
  maxItems: 0,
  description:
    'an empty list, or set "allowed" to true: an object that must not be forwarded has no recipients',
  ...proves({ maxItems: 'OBJ-14' }),
}

export const policyEnvelope = define(
  'policy_envelope',
  protocolObject('OBJ-07', {
    ...commonEnvelope('policy_envelope', 'pol'),
    policy_id: startsWith('pol'),
    purpose: Type.String(),
    allowed_recipients: Type.Array(startsWith('org'), { minItems: 1 }),
    allowed_actions: Type.Array(Type.String(), {
      minItems: 1,
      ...ours('O-34'),
      ...inUse('read', 'respond', 'forward_with_policy'),
    }),
    granularity: Type.Object({ level: Type.String(), prohibited_fields: Type.Array(Type.String()) }),
    retention: Type.Object({ duration_days: Type.Number({ minimum: 1, ...proves({ minimum: 'OBJ-15' }) }) }),
    forwarding: Type.Object(
      { allowed: Type.Boolean(), allowed_to: Type.Optional(Type.Array(startsWith('org'))) },
      ifThen(
        { properties: { allowed: { const: false } }, required: ['allowed'] },
        { properties: { allowed_to: nobody } },
      ),
    ),
    model_use: Type.Object({
      allowed_for_training: Type.Boolean(),
      allowed_for_runtime_reasoning: Type.Boolean(),
    }),
    human_approval: Type.Object({ required: Type.Boolean(), approval_id: Type.String() }),
    revocation: Type.Object({
      allowed: Type.Boolean(),
      revocation_window_days: Type.Number({ minimum: 0, ...proves({ minimum: 'OBJ-15' }) }),
    }),
  }),
)

export type PolicyEnvelope = Static<typeof policyEnvelope>
