import {
  eventTypeFor,
  movePackage,
  type AuditEvent,
  type AuditEventType,
  type PackageTrigger,
} from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'
import { packageTarget, toAuditEvent, traceOf, type Cause } from '../audit/audit-event.ts'
import type { AuditDraft } from '../audit/chain.ts'
import type { LifecycleEvent } from '../notifications/emit-events.ts'
import { toDraft, toEvent } from './package-events.ts'
import type { PackageRow } from './store.ts'

/** Something that happened to a package: the move that it triggers, its proof and its audit events. */
export interface PackageTransition {
  /** Undefined where the state machine has no trigger for it: it is recorded and moves nothing. */
  readonly trigger: PackageTrigger | undefined
  readonly kind: string
  readonly proof: Readonly<Record<string, unknown>>
  readonly auditKinds: readonly AuditEventType[]
  /** The agent that acted, if known: without an agent there is no audit event. */
  readonly agentId: string | undefined
}

/** A transition of a package whose thread is locked, and the request that caused it. */
export interface CausedTransition {
  readonly row: PackageRow
  readonly transition: PackageTransition
  readonly cause: Cause
}

export interface AppliedTransition {
  /** The package in its new state, where it moved. */
  readonly moved: PackageRow | undefined
  readonly auditEvents: readonly AuditEvent[]
  readonly drafts: readonly AuditDraft[]
  readonly events: readonly LifecycleEvent[]
}

/** PKG-11: every move of an existing package is decided here. Pure: the caller writes the result. */
export function applyTransition({ row, transition, cause }: CausedTransition): AppliedTransition {
  const { profile } = cause.context
  const { trigger } = transition
  const move = trigger && movePackage(row.state, trigger, row.transport_mode, profile)
  if (move?.outcome === 'refused') throw new Problem('invalid_state_transition', { state: row.state })
  const moved = move?.outcome === 'moved' ? { ...row, state: move.to, updated_at: cause.now } : undefined
  const states = move?.outcome === 'moved' && { state: move.to, implied_states: move.implied }
  // ID-05: the key of a signed statement is checked at its arrival, which may be earlier than the time of recording.
  const arrival = 'signature' in transition.proof && { accepted_at: cause.now }
  const proof = { kind: transition.kind, ...transition.proof, ...arrival, ...states }
  const auditEvents = toAuditEvents({ row, transition, cause })
  const drafts = (auditEvents.length > 0 ? auditEvents.map((event) => ({ event })) : [{}]).map((event) =>
    toDraft(row, { ...event, proof }, cause.now),
  )
  const eventType = moved && eventTypeFor(moved.state, profile)
  const events = moved && eventType !== undefined ? [toEvent(moved, eventType, cause)] : []
  return { moved, auditEvents, drafts, events }
}

function toAuditEvents({ row, transition, cause }: CausedTransition): AuditEvent[] {
  const { agentId } = transition
  if (agentId === undefined) return []
  const target = packageTarget(row.package_id, cause.context, row.responds_to_package_id !== null)
  const trace = traceOf(cause)
  return transition.auditKinds.map((eventType) =>
    toAuditEvent({ eventType, threadId: row.thread_id, agentId, target }, cause, trace),
  )
}
