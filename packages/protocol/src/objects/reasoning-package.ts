import { Type, type Static } from 'typebox'
import { proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { dateTime, startsWith } from '../schema/shared.ts'
import { commonEnvelope, inThread, protocolObject } from './common-envelope.ts'

const strings = Type.Array(Type.String())
const freeObject = Type.Object({})

const fact = Type.Object({
  fact_id: startsWith('fact'),
  statement: Type.String(),
  evidence_refs: Type.Array(startsWith('ev'), {
    minItems: 1,
    uniqueItems: true,
    ...proves({ uniqueItems: 'OBJ-12' }),
  }),
  sensitivity: Type.Enum(['public', 'internal', 'confidential', 'restricted']),
  value: Type.Optional(freeObject),
})

export const reasoningPackage = define(
  'reasoning_package',
  protocolObject('OBJ-05', {
    ...commonEnvelope('reasoning_package', 'pkg'),
    ...inThread,
    package_type: Type.Enum([
      'demand_change_reasoning',
      'capacity_response',
      'material_constraint_reasoning',
      'component_impact_response',
      'priority_decision_request',
      'network_story_update',
    ]),
    sender: Type.Object({
      organization_id: startsWith('org'),
      agent_id: startsWith('agent'),
      site_refs: Type.Optional(Type.Array(startsWith('site'))),
    }),
    recipients: Type.Array(
      Type.Object({ organization_id: startsWith('org'), role: Type.String(), required: Type.Boolean() }),
      { minItems: 1 },
    ),
    business_context: Type.Object({
      domain: Type.String(),
      use_case: Type.String(),
      time_horizon: Type.String(),
      affected_scope: freeObject,
    }),
    facts: Type.Array(fact, { minItems: 1 }),
    reasoning: Type.Object({ summary: Type.String(), drivers: strings, known_unknowns: strings }),
    confidence: Type.Object({
      score: Type.Number({ minimum: 0, maximum: 1, ...proves({ minimum: 'OBJ-11', maximum: 'OBJ-11' }) }),
      basis: Type.String(),
    }),
    intent: Type.Object({ sender_action: Type.String(), recipient_request: Type.String() }),
    boundaries: Type.Object({
      disclosure_level: Type.String(),
      not_disclosed: strings,
      retention_days: Type.Number({ minimum: 1, ...proves({ minimum: 'OBJ-15' }) }),
      forwarding_allowed: Type.Boolean(),
    }),
    response_required: Type.Object({
      required: Type.Boolean(),
      deadline: dateTime,
      expected_response_types: strings,
    }),
    policy_envelope: Type.Object(
      {
        policy_id: startsWith('pol'),
        purpose: Type.String(),
        human_approval: Type.Object({
          required: Type.Boolean(),
          approval_id: Type.String({ minLength: 1, ...proves({ minLength: 'OBJ-16' }) }),
        }),
      },
      proves({ default: 'OBJ-05', required: 'OBJ-16' }),
    ),
  }),
)

export type ReasoningPackage = Static<typeof reasoningPackage>
