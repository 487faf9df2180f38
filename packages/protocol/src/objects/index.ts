import { auditEvent, type AuditEvent } from './audit-event.ts'
import { loopThread, type LoopThread } from './loop-thread.ts'
import { networkStory, type NetworkStory } from './network-story.ts'
import { policyEnvelope, type PolicyEnvelope } from './policy-envelope.ts'
import { reasoningPackage, type ReasoningPackage } from './reasoning-package.ts'
import { responseObject, type ResponseObject } from './response-object.ts'

/** The six protocol objects by their `object_type`. */
export const protocolObjects = {
  reasoning_package: reasoningPackage,
  response_object: responseObject,
  loop_thread: loopThread,
  policy_envelope: policyEnvelope,
  network_story: networkStory,
  audit_event: auditEvent,
} as const

export type ProtocolObject =
  | ReasoningPackage
  | ResponseObject
  | LoopThread
  | PolicyEnvelope
  | NetworkStory
  | AuditEvent

export type { AuditEvent, LoopThread, NetworkStory, PolicyEnvelope, ReasoningPackage, ResponseObject }
