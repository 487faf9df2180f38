import { PROTOCOL_VERSION, type AuditEvent, type AuditEventType } from '@agent-exchange/protocol'
import type { Caller } from '../../kernel/call.ts'
import type { Context } from '../../kernel/context.ts'
import type { RequestSpan } from '../../kernel/tracing.ts'
import { correlationIdFor, idempotencyIdFor } from '../../kernel/trace-ids.ts'

/** The request that caused an audit event. */
export interface Cause {
  readonly caller: Caller
  readonly correlationId: string
  readonly idempotencyKey: string
  readonly now: string
  readonly context: Context
  readonly span?: RequestSpan | undefined
}

export interface AuditFact {
  readonly eventType: AuditEventType
  readonly threadId: string
  /** The agent that acted. */
  readonly agentId: string
  readonly target: { readonly object_id: string; readonly object_type: string }
  readonly policyId?: string
  readonly decision?: string
}

/**
 * O-26: a package as the target of an audit event. The exchange never sees the sealed object, so it derives the type
 * from the id prefix, except for responses.
 */
export function packageTarget(packageId: string, { profile }: Context, isResponse = false) {
  const isReasoning = packageId.startsWith('pkg_') && !isResponse
  const type = isReasoning ? 'reasoning_package' : profile['O-26'].other_target_type
  return { object_id: packageId, object_type: type }
}

/** Schema version of our audit events. */
const AUDIT_SCHEMA_VERSION = '1.0.0'

/** The trace member that all audit events of one request share. */
export function traceOf({ caller, correlationId, idempotencyKey, context }: Cause): AuditEvent['trace'] {
  return {
    correlation_id: correlationIdFor(correlationId),
    idempotency_key: idempotencyIdFor(caller.organizationId, idempotencyKey, context.macKey),
  }
}

/** AUD-01: a complete audit_event for an effect of a caller's request. */
export function toAuditEvent(fact: AuditFact, cause: Cause, trace = traceOf(cause)): AuditEvent {
  const { caller, context, now } = cause
  const actor = { agent_id: fact.agentId, organization_id: caller.organizationId }
  // Members are already in the order of RFC 8785, which saves sorting them.
  return {
    actor,
    created_at: now,
    created_by: actor,
    ...(fact.decision !== undefined && { decision: fact.decision }),
    event_type: fact.eventType,
    id: context.newId('audit'),
    object_type: 'audit_event',
    occurred_at: now,
    // policy_id of an audit event must start with pol_; a policy receipt may use other ids.
    ...(fact.policyId?.startsWith('pol_') && { policy_id: fact.policyId }),
    protocol_version: PROTOCOL_VERSION,
    schema_version: AUDIT_SCHEMA_VERSION,
    target: fact.target,
    thread_id: fact.threadId,
    trace,
  }
}
