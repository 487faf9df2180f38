export interface ObjectParties {
  readonly packageId: string
  readonly threadId: string
  readonly createdAt: string
  readonly senderOrganizationId: string
  readonly senderAgentId: string
  readonly recipientOrganizationId: string
}

const DAY_MS = 86_400_000

/** A reasoning package with every required member. */
export function scriptedObject(parties: ObjectParties): Record<string, unknown> {
  const author = { organization_id: parties.senderOrganizationId, agent_id: parties.senderAgentId }
  return {
    id: parties.packageId,
    object_type: 'reasoning_package',
    protocol_version: 'svc/1.0',
    schema_version: '1.0.0',
    created_at: parties.createdAt,
    created_by: author,
    thread_id: parties.threadId,
    trace: { correlation_id: 'corr_conformance', idempotency_key: 'idem_conformance' },
    package_type: 'material_constraint_reasoning',
    sender: author,
    recipients: [{ organization_id: parties.recipientOrganizationId, role: 'manufacturer', required: true }],
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
      },
    ],
    reasoning: { summary: 'Rails will be short in week 12.', drivers: ['late coil'], known_unknowns: [] },
    confidence: { score: 0.8, basis: 'supplier notice' },
    intent: { sender_action: 'reschedule', recipient_request: 'confirm priorities' },
    boundaries: {
      disclosure_level: 'aggregated',
      not_disclosed: ['prices'],
      retention_days: 90,
      forwarding_allowed: false,
    },
    response_required: {
      required: true,
      deadline: new Date(Date.parse(parties.createdAt) + DAY_MS).toISOString(),
      expected_response_types: ['agree'],
    },
    policy_envelope: {
      policy_id: 'pol_conformance',
      purpose: 'supply planning',
      human_approval: { required: true, approval_id: 'approval_conformance' },
    },
  }
}
