import type {
  NetworkStory,
  PolicyEnvelope,
  ProtocolObject,
  ReasoningPackage,
  ResponseObject,
} from '@agent-exchange/protocol'
import { newObject, type ObjectTerms } from '@agent-exchange/sdk/internal'
import type { Identity } from '@agent-exchange/sdk'

/** Words that only the two companies may ever read; the demo looks for them in everything the exchange keeps. */
export const SECRET_WORDS = [
  'Demand for the comfort seat rises by 18 percent',
  'the rail press is booked to 96 percent',
  'Two Saturday shifts in weeks 31 and 32',
] as const

interface Parties {
  readonly manufacturer: Identity
  readonly supplier: Identity
}

export function demoNames({ manufacturer, supplier }: Parties): Readonly<Record<string, string>> {
  return { [manufacturer.organizationId]: 'Carmaker', [supplier.organizationId]: 'Seat supplier' }
}

/** What both sides may say and keep in this thread; each side has its own policy. */
export function policyFor(by: Identity, to: Identity, now: Date, approval: boolean): PolicyEnvelope {
  const draft = newObject('policy_envelope', { by, to: to.organizationId, now })
  return {
    ...draft,
    purpose: 'weekly demand alignment',
    granularity: { level: 'aggregated', prohibited_fields: ['unit_price', 'customer_name'] },
    human_approval: { required: approval, approval_id: approval ? 'approval_demo_1' : 'none' },
  }
}

const inThread = (by: Identity, to: Identity, threadId: string, now: Date): ObjectTerms => ({
  by,
  to: to.organizationId,
  threadId,
  now,
})

export function demandChange(
  { manufacturer, supplier }: Parties,
  threadId: string,
  now: Date,
): ReasoningPackage {
  const draft = newObject('reasoning_package', inThread(manufacturer, supplier, threadId, now))
  return {
    ...draft,
    business_context: {
      domain: 'supply',
      use_case: 'demand_change',
      time_horizon: 'weeks 30 to 34',
      affected_scope: { part_family: 'comfort seat' },
    },
    facts: [
      {
        fact_id: 'fact_orders',
        statement: `${SECRET_WORDS[0]} from week 31.`,
        evidence_refs: ['ev_order_intake'],
        sensitivity: 'confidential',
      },
    ],
    reasoning: {
      summary: 'A new equipment line sells better than planned; the mix shifts towards comfort seats.',
      drivers: ['order intake of the last three weeks'],
      known_unknowns: ['whether the trend holds beyond week 34'],
    },
    confidence: { score: 0.8, basis: 'firm orders' },
    intent: {
      sender_action: 'raise call-offs from week 31',
      recipient_request: 'confirm or challenge by tomorrow',
    },
    policy_envelope: {
      ...draft.policy_envelope,
      purpose: 'weekly demand alignment',
      human_approval: { required: true, approval_id: 'approval_demo_1' },
    },
  }
}

export function challenge(
  { manufacturer, supplier }: Parties,
  original: { readonly threadId: string; readonly packageId: string },
  now: Date,
): ResponseObject {
  const draft = newObject('response_object', {
    ...inThread(supplier, manufacturer, original.threadId, now),
    about: original.packageId,
  })
  return {
    ...draft,
    response_actions: ['challenge', 'provide_constraint', 'provide_option'],
    response_summary: `We can follow in part: ${SECRET_WORDS[1]} in week 31.`,
    agreement: { agrees_with_sender_summary: true, challenged_points: ['full rise already in week 31'] },
    constraints: [
      { constraint_type: 'capacity', scope: 'rail press', severity: 'hard', time_impact: 'weeks 31 and 32' },
    ],
    options: [{ option_id: 'option_saturday', summary: `${SECRET_WORDS[2]} close the gap.` }],
  }
}

export function decision({ manufacturer, supplier }: Parties, threadId: string, now: Date): ReasoningPackage {
  const draft = newObject('reasoning_package', inThread(manufacturer, supplier, threadId, now))
  return {
    ...draft,
    package_type: 'priority_decision_request',
    business_context: {
      ...draft.business_context,
      use_case: 'priority_decision',
      time_horizon: 'weeks 31 and 32',
    },
    facts: [
      {
        fact_id: 'fact_shifts',
        statement: `${SECRET_WORDS[2]} are paid for by the carmaker.`,
        evidence_refs: ['ev_purchasing_note'],
        sensitivity: 'confidential',
      },
    ],
    reasoning: {
      summary: 'The option is taken; the rise starts at half in week 31 and is whole in week 33.',
      drivers: ['the capacity of the press'],
      known_unknowns: [],
    },
    confidence: { score: 0.9, basis: 'the offer of the supplier' },
    intent: { sender_action: 'order the shifts', recipient_request: 'confirm the plan' },
  }
}

export function agreement(
  { manufacturer, supplier }: Parties,
  original: { readonly threadId: string; readonly packageId: string },
  now: Date,
): ResponseObject {
  const draft = newObject('response_object', {
    ...inThread(supplier, manufacturer, original.threadId, now),
    about: original.packageId,
  })
  return {
    ...draft,
    response_actions: ['agree'],
    response_summary: 'Agreed: half in week 31, whole from week 33.',
  }
}

/** What both now hold to be so. */
export function alignedStory(
  { manufacturer, supplier }: Parties,
  basis: {
    readonly threadId: string
    readonly objects: readonly Pick<ProtocolObject, 'id' | 'object_type'>[]
  },
  now: Date,
): NetworkStory {
  const draft = newObject('network_story', inThread(manufacturer, supplier, basis.threadId, now))
  return {
    ...draft,
    status: 'active',
    summary: 'Comfort seats rise in two steps; the press runs two Saturdays.',
    agreed_facts: [`${SECRET_WORDS[0]}.`],
    decisions: ['Two Saturday shifts, paid for by the carmaker.'],
    boundaries: ['No prices are shared.'],
    basis_refs: basis.objects.map(({ id, object_type }) => ({ object_id: id, object_type })),
  }
}
