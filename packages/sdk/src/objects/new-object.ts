import {
  PROTOCOL_VERSION,
  type AuditEvent,
  type LoopThread,
  type NetworkStory,
  type ObjectType,
  type PolicyEnvelope,
  type ReasoningPackage,
  type ResponseObject,
} from '@agent-exchange/protocol'
import { answerableId } from './answered-id.ts'
import { randomId } from '../connection/random-id.ts'
import type { Identity } from '../context.ts'
import { PLACEHOLDERS } from './placeholders.ts'

export interface ObjectTerms {
  /** The author. */
  readonly by: Identity
  /** The recipient organization. */
  readonly to: string
  readonly now: Date
  /** Defaults to a new thread. */
  readonly threadId?: string
  /** The package that a response, a story or an audit event refers to. */
  readonly about?: string
  readonly policyId?: string
}

/** The six objects by their `object_type`. */
export interface ObjectOf {
  readonly reasoning_package: ReasoningPackage
  readonly response_object: ResponseObject
  readonly loop_thread: LoopThread
  readonly policy_envelope: PolicyEnvelope
  readonly network_story: NetworkStory
  readonly audit_event: AuditEvent
}

const DAY_MS = 86_400_000
const RETENTION_DAYS = 30
const PURPOSE = 'supply alignment'

/**
 * A valid new object of a type, with new ids and with placeholder sentences.
 *
 * @example
 * const draft = newObject('reasoning_package', {
 *   by: { organizationId: 'org_acme', agentId: 'agent_planner' },
 *   to: 'org_carmaker',
 *   now: new Date(),
 * })
 * await agent.send({ ...terms, object: { ...draft, package_type: 'capacity_response' } })
 */
export function newObject<Type extends ObjectType>(type: Type, terms: ObjectTerms): ObjectOf[Type] {
  return MAKERS[type](terms, commonOf(terms))
}

type Common = ReturnType<typeof commonOf>

function commonOf({ by, now, threadId, about, policyId }: ObjectTerms) {
  return {
    fields: {
      protocol_version: PROTOCOL_VERSION as typeof PROTOCOL_VERSION,
      schema_version: '1.0.0',
      created_at: now.toISOString(),
      created_by: { organization_id: by.organizationId, agent_id: by.agentId },
      trace: { correlation_id: randomId('corr'), idempotency_key: randomId('idem') },
    },
    threadId: threadId ?? randomId('thread'),
    about: about ?? randomId('pkg'),
    policyId: policyId ?? randomId('pol'),
  }
}

const later = (now: Date, days: number) => new Date(now.getTime() + days * DAY_MS).toISOString()

const MAKERS: { readonly [Type in ObjectType]: (terms: ObjectTerms, common: Common) => ObjectOf[Type] } = {
  reasoning_package: ({ by, to, now }, { fields, threadId, policyId }) => ({
    ...fields,
    id: randomId('pkg'),
    object_type: 'reasoning_package',
    thread_id: threadId,
    package_type: 'demand_change_reasoning',
    sender: { organization_id: by.organizationId, agent_id: by.agentId },
    recipients: [{ organization_id: to, role: 'partner', required: true }],
    business_context: {
      domain: 'supply',
      use_case: 'demand_change',
      time_horizon: PLACEHOLDERS.horizon,
      affected_scope: {},
    },
    facts: [
      {
        fact_id: randomId('fact'),
        statement: PLACEHOLDERS.fact,
        evidence_refs: [randomId('ev')],
        sensitivity: 'confidential',
      },
    ],
    reasoning: {
      summary: PLACEHOLDERS.conclusion,
      drivers: [PLACEHOLDERS.driver],
      known_unknowns: [PLACEHOLDERS.unknown],
    },
    confidence: { score: 0.5, basis: PLACEHOLDERS.confidence },
    intent: { sender_action: PLACEHOLDERS.action, recipient_request: PLACEHOLDERS.request },
    boundaries: {
      disclosure_level: 'aggregated',
      not_disclosed: [],
      retention_days: RETENTION_DAYS,
      forwarding_allowed: false,
    },
    response_required: {
      required: true,
      deadline: later(now, 2),
      expected_response_types: ['agree', 'challenge'],
    },
    policy_envelope: {
      policy_id: policyId,
      purpose: PURPOSE,
      human_approval: { required: false, approval_id: 'none' },
    },
  }),

  response_object: (_terms, { fields, threadId, about, policyId }) => ({
    ...fields,
    id: randomId('resp'),
    object_type: 'response_object',
    thread_id: threadId,
    responds_to_package_id: answerableId(about),
    response_actions: ['agree'],
    response_summary: PLACEHOLDERS.answer,
    boundaries: { disclosure_level: 'aggregated', not_disclosed: [] },
    policy_envelope: { policy_id: policyId, purpose: PURPOSE },
  }),

  loop_thread: ({ by, to }, { fields, threadId }) => ({
    ...fields,
    id: threadId,
    object_type: 'loop_thread',
    thread_id: threadId,
    thread_type: 'weekly_alignment',
    phase: 'observed',
    participants: [
      { organization_id: by.organizationId, role: 'initiator' },
      { organization_id: to, role: 'partner' },
    ],
    package_chain: [],
    response_chain: [],
    lifecycle: { allowed_next_phases: ['reasoned', 'closed'], audit_event_ids: [] },
  }),

  policy_envelope: ({ to }, { fields, policyId }) => ({
    ...fields,
    id: policyId,
    object_type: 'policy_envelope',
    policy_id: policyId,
    purpose: PURPOSE,
    allowed_recipients: [to],
    allowed_actions: ['read', 'respond'],
    granularity: { level: 'aggregated', prohibited_fields: [] },
    retention: { duration_days: RETENTION_DAYS },
    forwarding: { allowed: false },
    model_use: { allowed_for_training: false, allowed_for_runtime_reasoning: true },
    human_approval: { required: false, approval_id: 'none' },
    revocation: { allowed: true, revocation_window_days: RETENTION_DAYS },
  }),

  network_story: (_terms, { fields, threadId, about }) => ({
    ...fields,
    id: randomId('story'),
    object_type: 'network_story',
    thread_id: threadId,
    story_version: 1,
    status: 'draft',
    summary: PLACEHOLDERS.story,
    agreed_facts: [],
    open_questions: [],
    decisions: [],
    boundaries: [],
    basis_refs: [{ object_id: about, object_type: 'reasoning_package' }],
  }),

  audit_event: ({ by, now }, { fields, threadId, about }) => ({
    ...fields,
    id: randomId('audit'),
    object_type: 'audit_event',
    thread_id: threadId,
    event_type: 'decision_made',
    occurred_at: now.toISOString(),
    actor: { organization_id: by.organizationId, agent_id: by.agentId },
    target: { object_id: about, object_type: 'reasoning_package' },
    decision: PLACEHOLDERS.decision,
  }),
}
