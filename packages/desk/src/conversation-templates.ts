import type { ReasoningPackage } from '@agent-exchange/protocol'

/** The six types of a reasoning package, each a template for a conversation. */
export const PACKAGE_TEMPLATES = [
  'demand_change_reasoning',
  'capacity_response',
  'material_constraint_reasoning',
  'component_impact_response',
  'priority_decision_request',
  'network_story_update',
] as const satisfies readonly ReasoningPackage['package_type'][]
export type PackageTemplate = (typeof PACKAGE_TEMPLATES)[number]

export const EXPECTED_ANSWERS = [
  'agree',
  'challenge',
  'provide_constraint',
  'provide_option',
  'request_human_decision',
] as const
type ExpectedAnswer = (typeof EXPECTED_ANSWERS)[number]

/** Fields that not every type needs. */
type OptionalField = 'drivers' | 'unknowns' | 'confidence' | 'action'

interface TemplateForm {
  readonly domain: string
  readonly useCase: string
  /** What the first line of the scope names. */
  readonly scope: string
  readonly fields: readonly OptionalField[]
  readonly expected: readonly ExpectedAnswer[]
}

/** What each type asks for, and what its form has before the person writes. All of it can be changed there. */
export const TEMPLATE_FORMS: Readonly<Record<PackageTemplate, TemplateForm>> = {
  demand_change_reasoning: {
    domain: 'demand',
    useCase: 'demand_change',
    scope: 'part_family',
    fields: ['drivers', 'unknowns', 'confidence', 'action'],
    expected: ['agree', 'challenge', 'provide_constraint'],
  },
  capacity_response: {
    domain: 'capacity',
    useCase: 'capacity',
    scope: 'line',
    fields: ['drivers', 'unknowns', 'confidence', 'action'],
    expected: ['agree', 'challenge', 'provide_option'],
  },
  material_constraint_reasoning: {
    domain: 'supply',
    useCase: 'material_constraint',
    scope: 'material',
    fields: ['drivers', 'unknowns', 'confidence', 'action'],
    expected: ['agree', 'challenge', 'provide_option'],
  },
  component_impact_response: {
    domain: 'components',
    useCase: 'component_impact',
    scope: 'component',
    fields: ['unknowns', 'confidence'],
    expected: ['challenge', 'provide_constraint'],
  },
  priority_decision_request: {
    domain: 'priorities',
    useCase: 'priority_decision',
    scope: 'part_family',
    fields: ['unknowns'],
    expected: ['provide_option', 'request_human_decision'],
  },
  network_story_update: {
    domain: 'network',
    useCase: 'network_story',
    scope: 'network',
    fields: ['unknowns'],
    expected: ['agree', 'challenge'],
  },
}

/** The fields of a new form. */
export function templateValues(template: PackageTemplate): URLSearchParams {
  const { domain, useCase, scope, expected } = TEMPLATE_FORMS[template]
  return new URLSearchParams({
    'business_context.domain': domain,
    'business_context.use_case': useCase,
    'business_context.scope.0.name': scope,
    ...Object.fromEntries(expected.map((each) => [`expected.${each}`, 'on'])),
  })
}
