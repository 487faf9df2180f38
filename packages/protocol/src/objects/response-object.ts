import { Type, type Static } from 'typebox'
import { inUse, ours } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { startsWith } from '../schema/shared.ts'
import { commonEnvelope, inThread, protocolObject } from './common-envelope.ts'

/** The specification shows only example members, so none are validated. */
const openItems = (...members: string[]) =>
  Type.Array(Type.Unknown(), { ...ours('O-34'), ...inUse(...members) })
const openObject = (...members: string[]) => Type.Object({}, { ...ours('O-34'), ...inUse(...members) })

export const responseObject = define(
  'response_object',
  protocolObject('OBJ-06', {
    ...commonEnvelope('response_object', 'resp'),
    ...inThread,
    responds_to_package_id: startsWith('pkg'),
    response_actions: Type.Array(
      Type.Enum([
        'agree',
        'challenge',
        'add_context',
        'provide_constraint',
        'provide_option',
        'request_clarification',
        'request_human_decision',
        'decline_with_policy',
        'propose_action',
      ]),
      { minItems: 1 },
    ),
    response_summary: Type.String(),
    agreement: Type.Optional(
      Type.Object({
        agrees_with_sender_summary: Type.Optional(Type.Boolean()),
        challenged_points: Type.Optional(Type.Array(Type.String())),
      }),
    ),
    added_facts: Type.Optional(openItems('fact_id', 'statement', 'evidence_refs', 'sensitivity')),
    added_reasoning: Type.Optional(openObject('summary')),
    constraints: Type.Optional(openItems('constraint_type', 'scope', 'severity', 'time_impact')),
    options: Type.Optional(openItems('option_id', 'summary')),
    recipient_request: Type.Optional(openObject('requested_from', 'request_type', 'summary', 'deadline')),
    boundaries: Type.Object({ disclosure_level: Type.String(), not_disclosed: Type.Array(Type.String()) }),
    policy_envelope: Type.Object({ policy_id: startsWith('pol'), purpose: Type.String() }),
    policy_decline: Type.Optional(Type.Object({})),
  }),
)

export type ResponseObject = Static<typeof responseObject>
