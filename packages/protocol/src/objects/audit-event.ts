import { Type, type Static } from 'typebox'
import { define } from '../schema/define.ts'
import { dateTime, startsWith } from '../schema/shared.ts'
import { commonEnvelope, inThread, protocolObject } from './common-envelope.ts'

export const AUDIT_EVENT_TYPES = [
  'package_created',
  'policy_evaluated',
  'human_approved',
  'package_sent',
  'package_received',
  'response_created',
  'thread_phase_changed',
  'network_story_created',
  'decision_made',
  'outcome_recorded',
  'package_revoked',
] as const

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
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number]
