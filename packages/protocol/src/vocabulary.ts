/** Closed vocabularies of the objects. */

export const LOOP_PHASES = [
  'observed',
  'reasoned',
  'shared',
  'responded',
  'aligned',
  'actioned',
  'measured',
  'learned',
  'closed',
] as const

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

export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number]
