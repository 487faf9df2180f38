import { Type, type Static } from 'typebox'
import { proves } from '../schema/annotations.ts'
import { ifThen } from '../schema/conditional.ts'
import { define } from '../schema/define.ts'
import { startsWith } from '../schema/shared.ts'
import { LOOP_PHASES } from '../vocabulary.ts'
import { commonEnvelope, inThread, protocolObject } from './common-envelope.ts'

const anything = Type.Array(Type.Unknown())

/** The contradiction that the specification shows; a deployment can add others (O-01). */
const closedThread = ifThen(
  { properties: { phase: { const: 'closed' } }, required: ['phase'] },
  {
    properties: {
      lifecycle: {
        type: 'object',
        properties: {
          allowed_next_phases: {
            type: 'array',
            items: {
              not: { const: 'responded' },
              description: 'another phase: a closed thread cannot change to "responded"',
              ...proves('OBJ-17'),
            },
          },
        },
      },
    },
  },
)

export const loopThread = define(
  'loop_thread',
  protocolObject(
    'OBJ-08',
    {
      ...commonEnvelope('loop_thread', 'thread'),
      ...inThread,
      thread_type: Type.Enum(['weekly_alignment', 'material_constraint', 'priority_decision']),
      phase: Type.Enum([...LOOP_PHASES]),
      participants: Type.Array(
        Type.Object({
          organization_id: startsWith('org'),
          role: Type.String(),
          visibility: Type.Optional(Type.String()),
        }),
        { minItems: 2 },
      ),
      package_chain: Type.Array(startsWith('pkg')),
      response_chain: Type.Array(startsWith('resp')),
      approvals: Type.Optional(anything),
      open_questions: Type.Optional(anything),
      decisions_requested: Type.Optional(anything),
      network_story_id: Type.Optional(startsWith('story')),
      lifecycle: Type.Object({
        allowed_next_phases: Type.Array(Type.String()),
        audit_event_ids: Type.Array(startsWith('audit')),
      }),
    },
    closedThread,
  ),
)

export type LoopThread = Static<typeof loopThread>
