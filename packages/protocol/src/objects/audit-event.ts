import { Type, type Static } from 'typebox'
import { define } from '../schema/define.ts'
import { dateTime, startsWith } from '../schema/shared.ts'
import { AUDIT_EVENT_TYPES } from '../vocabulary.ts'
import { commonEnvelope, inThread, protocolObject } from './common-envelope.ts'

export const auditEvent = define(
  'audit_event',
  protocolObject('OBJ-10', {
    ...commonEnvelope('audit_event', 'audit'),
    ...inThread,
    event_type: Type.Enum([...AUDIT_EVENT_TYPES]),
    occurred_at: dateTime,
    actor: Type.Object({
      organization_id: startsWith('org'),
      agent_id: Type.Optional(startsWith('agent')),
      human_id: Type.Optional(startsWith('user')),
    }),
    target: Type.Object({ object_id: Type.String(), object_type: Type.String() }),
    decision: Type.Optional(Type.String()),
    policy_id: Type.Optional(startsWith('pol')),
  }),
)

export type AuditEvent = Static<typeof auditEvent>
