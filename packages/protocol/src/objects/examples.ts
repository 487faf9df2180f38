import { PROTOCOL_VERSION } from '../wire.ts'
import type {
  AuditEvent,
  LoopThread,
  NetworkStory,
  PolicyEnvelope,
  ReasoningPackage,
  ResponseObject,
} from './index.ts'

/** One valid object of each type. Together they describe a supplier that has to postpone a delivery. */

const SUPPLIER = { organization_id: 'org_tier1_seats', agent_id: 'agent_seats_planner' }
const MANUFACTURER = { organization_id: 'org_carmaker', agent_id: 'agent_carmaker_supply' }
const THREAD = 'thread_seat_rails_w12'

const common = {
  protocol_version: PROTOCOL_VERSION,
  schema_version: '1.0.0',
  created_at: '2026-03-02T08:00:00Z',
  created_by: SUPPLIER,
  trace: { correlation_id: 'corr_seat_rails_w12', idempotency_key: 'idem_seat_rails_w12_1' },
} as const

const reasoningPackage: ReasoningPackage = {
  ...common,
  id: 'pkg_seat_rails_1',
  object_type: 'reasoning_package',
  thread_id: THREAD,
  package_type: 'material_constraint_reasoning',
  sender: { ...SUPPLIER, site_refs: ['site_seats_north'] },
  recipients: [{ organization_id: MANUFACTURER.organization_id, role: 'manufacturer', required: true }],
  business_context: {
    domain: 'supply',
    use_case: 'material_constraint',
    time_horizon: 'weeks 12 to 14',
    affected_scope: { part_family: 'seat rails' },
  },
  facts: [
    {
      fact_id: 'fact_steel_late',
      statement: 'A coil delivery moved from week 11 to week 12.',
      evidence_refs: ['ev_supplier_notice'],
      sensitivity: 'confidential',
      value: { weeks_late: 1 },
    },
  ],
  reasoning: {
    summary: 'Rails for two seat variants will be short in week 12 and recovered by week 14.',
    drivers: ['late steel coil', 'no second source approved'],
    known_unknowns: ['whether air freight of the coil is released'],
  },
  confidence: { score: 0.8, basis: 'supplier notice and stock count' },
  intent: { sender_action: 'reschedule', recipient_request: 'confirm which variants have priority' },
  boundaries: {
    disclosure_level: 'aggregated',
    not_disclosed: ['prices', 'stock by site'],
    retention_days: 90,
    forwarding_allowed: false,
  },
  response_required: {
    required: true,
    deadline: '2026-03-04T17:00:00+01:00',
    expected_response_types: ['agree', 'challenge'],
  },
  policy_envelope: {
    policy_id: 'pol_supply_alignment',
    purpose: 'supply alignment',
    human_approval: { required: true, approval_id: 'approval_4711' },
  },
}

const responseObject: ResponseObject = {
  ...common,
  id: 'resp_seat_rails_1',
  object_type: 'response_object',
  created_at: '2026-03-03T10:15:00Z',
  created_by: MANUFACTURER,
  thread_id: THREAD,
  responds_to_package_id: reasoningPackage.id,
  response_actions: ['challenge', 'provide_option'],
  response_summary: 'One of the two variants can wait; the other cannot.',
  agreement: { agrees_with_sender_summary: false, challenged_points: ['both variants are short'] },
  added_facts: [
    {
      fact_id: 'fact_variant_stock',
      statement: 'Variant B is covered until week 13.',
      evidence_refs: ['ev_line_stock'],
      sensitivity: 'internal',
    },
  ],
  options: [{ option_id: 'option_b_first', summary: 'Build variant A first.' }],
  boundaries: { disclosure_level: 'aggregated', not_disclosed: ['line rates'] },
  policy_envelope: { policy_id: 'pol_supply_alignment', purpose: 'supply alignment' },
}

const loopThread: LoopThread = {
  ...common,
  id: THREAD,
  object_type: 'loop_thread',
  thread_id: THREAD,
  thread_type: 'material_constraint',
  phase: 'responded',
  participants: [
    { organization_id: SUPPLIER.organization_id, role: 'supplier', visibility: 'full' },
    { organization_id: MANUFACTURER.organization_id, role: 'manufacturer' },
  ],
  package_chain: [reasoningPackage.id],
  response_chain: [responseObject.id],
  open_questions: ['Is air freight released?'],
  network_story_id: 'story_seat_rails',
  lifecycle: { allowed_next_phases: ['aligned', 'closed'], audit_event_ids: ['audit_seat_rails_sent'] },
}

const policyEnvelope: PolicyEnvelope = {
  ...common,
  id: 'pol_supply_alignment',
  object_type: 'policy_envelope',
  policy_id: 'pol_supply_alignment',
  purpose: 'supply alignment',
  allowed_recipients: [MANUFACTURER.organization_id],
  allowed_actions: ['read', 'respond'],
  granularity: { level: 'aggregated', prohibited_fields: ['unit_price'] },
  retention: { duration_days: 90 },
  forwarding: { allowed: false, allowed_to: [] },
  model_use: { allowed_for_training: false, allowed_for_runtime_reasoning: true },
  human_approval: { required: true, approval_id: 'approval_4711' },
  revocation: { allowed: true, revocation_window_days: 14 },
}

const networkStory: NetworkStory = {
  ...common,
  id: 'story_seat_rails',
  object_type: 'network_story',
  thread_id: THREAD,
  story_version: 1,
  status: 'active',
  summary: 'Variant A is built first; rails recover by week 14.',
  agreed_facts: ['The coil arrives in week 12.'],
  open_questions: [],
  decisions: ['Variant A has priority.'],
  boundaries: ['No prices are shared.'],
  next_update: '2026-03-09T08:00:00Z',
  basis_refs: [
    { object_id: reasoningPackage.id, object_type: 'reasoning_package' },
    { object_id: responseObject.id, object_type: 'response_object' },
  ],
}

const auditEvent: AuditEvent = {
  ...common,
  id: 'audit_seat_rails_sent',
  object_type: 'audit_event',
  thread_id: THREAD,
  event_type: 'package_sent',
  occurred_at: '2026-03-02T08:00:01Z',
  actor: SUPPLIER,
  target: { object_id: reasoningPackage.id, object_type: 'reasoning_package' },
  decision: 'sent under policy',
  policy_id: 'pol_supply_alignment',
}

export const exampleObjects = {
  reasoning_package: reasoningPackage,
  response_object: responseObject,
  loop_thread: loopThread,
  policy_envelope: policyEnvelope,
  network_story: networkStory,
  audit_event: auditEvent,
} as const
