const DAY_MS = 86_400_000

/** Content of a reasoning package, as a program writes it. */
export const askedContent = (): Readonly<Record<string, unknown>> => ({
  package_type: 'demand_change_reasoning',
  business_context: {
    domain: 'supply',
    use_case: 'demand_change',
    time_horizon: 'weeks 12 to 14',
    affected_scope: {},
  },
  facts: Array.from({ length: 10 }, (_, i) => ({
    fact_id: `fact_${i}`,
    statement: `Press ${i} is down until week 13, and the rails that it makes are short until week 14.`,
    evidence_refs: [`ev_${i}`],
    sensitivity: 'confidential',
  })),
  reasoning: { summary: 'Rails are short in week 12.', drivers: ['a late repair'], known_unknowns: [] },
  confidence: { score: 0.7, basis: 'the repair is scheduled' },
  intent: { sender_action: 'We ship in week 13.', recipient_request: 'Accept week 13?' },
  response_required: {
    required: true,
    deadline: new Date(Date.now() + DAY_MS).toISOString(),
    expected_response_types: ['agree', 'challenge'],
  },
})
