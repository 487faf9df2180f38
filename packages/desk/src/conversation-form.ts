import { randomUUID } from 'node:crypto'
import type { PolicyEnvelope, ReasoningPackage } from '@agent-exchange/protocol'
import type { AgentAddress, Identity } from '@agent-exchange/sdk'
import { ACTION_WORDS, makersOf } from '@agent-exchange/sdk/internal'
import { EXPECTED_ANSWERS, TEMPLATE_FORMS, type PackageTemplate } from './conversation-templates.ts'
import { CONVERSATION_TEXTS as T, TASK_TEXTS } from './texts/answer-texts.ts'
import { listOf, membersFrom, objectOf } from './form-members.ts'
import { formField, type FormPart } from './form-parts.ts'
import { randomId } from './made-answer.ts'
import { SENSITIVITIES } from './schema-form.ts'

const CONFIDENCES = ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9', '1']
const PERCENT = 100

/** `partners`: agents that this one has exchanged packages with, to choose from. */
export function conversationParts(
  template: PackageTemplate,
  partners: readonly AgentAddress[],
): readonly FormPart[] {
  const shown = new Set<string>(TEMPLATE_FORMS[template].fields)
  const optional = (name: string, ...parts: readonly FormPart[]) => (shown.has(name) ? parts : [])
  const known = partners.map(({ organizationId, agentId }) => `${organizationId} ${agentId}`)
  return [
    {
      kind: 'group',
      name: 'to',
      label: T.recipient,
      isOpen: true,
      ids: [],
      parts: [
        ...(known.length > 0
          ? [formField('select', 'to.known', { label: T.knownAgent, values: known })]
          : []),
        formField('line', 'to.organization', { label: T.organization, hint: T.recipientHint }),
        formField('line', 'to.agent', { label: T.agent }),
      ],
    },
    {
      kind: 'group',
      name: 'business_context',
      label: T.about,
      isOpen: true,
      ids: [],
      parts: [
        formField('line', 'business_context.domain', { label: T.domain, isRequired: true }),
        formField('line', 'business_context.use_case', { label: T.useCase, isRequired: true }),
        formField('line', 'business_context.time_horizon', { label: T.horizon, isRequired: true }),
        {
          kind: 'list',
          name: 'business_context.scope',
          label: T.scope,
          ids: [],
          parts: [
            formField('line', 'business_context.scope.name', { label: T.scopeName }),
            formField('line', 'business_context.scope.value', { label: T.scopeValue }),
          ],
        },
      ],
    },
    formField('text', 'summary', { label: T.summary, isRequired: true }),
    {
      kind: 'list',
      name: 'facts',
      label: T.fact,
      isOpen: true,
      ids: [],
      parts: [
        formField('text', 'facts.statement', { label: TASK_TEXTS.statement }),
        formField('lines', 'facts.evidence_refs', { label: TASK_TEXTS.evidenceRefs, hint: T.evidenceHint }),
        formField('select', 'facts.sensitivity', { label: TASK_TEXTS.sensitivity, values: SENSITIVITIES }),
      ],
    },
    ...optional('drivers', formField('lines', 'drivers', { label: T.drivers })),
    ...optional('unknowns', formField('lines', 'unknowns', { label: T.unknowns })),
    ...optional(
      'confidence',
      formField('number', 'confidence', {
        label: T.confidence,
        values: CONFIDENCES,
        labels: Object.fromEntries(CONFIDENCES.map((each) => [each, `${Number(each) * PERCENT}%`])),
      }),
      formField('line', 'confidence_basis', { label: T.confidenceBasis }),
    ),
    ...optional('action', formField('line', 'action', { label: T.action })),
    formField('text', 'ask', { label: T.ask, isRequired: true }),
    formField('date', 'deadline', { label: T.deadline, hint: TASK_TEXTS.endOfDay, isRequired: true }),
    formField('choices', 'expected', {
      label: T.expected,
      values: EXPECTED_ANSWERS,
      labels: ACTION_WORDS,
    }),
    formField('lines', 'not_disclosed', { label: TASK_TEXTS.notDisclosed }),
  ]
}

/** The agent that the form names, if it names one. */
export function recipientFrom(fields: URLSearchParams): AgentAddress | undefined {
  const [knownOrganization = '', knownAgent = ''] = (fields.get('to.known') ?? '').split(' ')
  const organizationId = fields.get('to.organization')?.trim() || knownOrganization
  const agentId = fields.get('to.agent')?.trim() || knownAgent
  return organizationId === '' || agentId === '' ? undefined : { organizationId, agentId }
}

export interface ConversationTerms {
  readonly template: PackageTemplate
  readonly by: Identity
  readonly now: Date
  readonly policy: PolicyEnvelope
  readonly to: AgentAddress
  readonly thread?: string
}

/** The package that the fields describe, made by the maker that programs use. */
export function packageFrom(fields: URLSearchParams, terms: ConversationTerms): ReasoningPackage {
  const { template, by, now, policy, to, thread = `thread_${randomUUID()}` } = terms
  const members = membersFrom(conversationParts(template, []), fields, randomId)
  const context = objectOf(members['business_context'])
  const scope = listOf(context['scope']).map(objectOf)
  const texts = (name: string) => listOf(members[name]).map(String)
  const basis = text(members['confidence_basis'])
  const action = text(members['action'])
  return makersOf(() => ({ by, now, policy })).reasoningPackage({
    to,
    thread,
    package_type: template,
    summary: text(members['summary']),
    facts: listOf(members['facts']).map((fact) => ({ statement: '', ...objectOf(fact) })),
    ask: text(members['ask']),
    ...(action !== '' && { action }),
    drivers: texts('drivers'),
    unknowns: texts('unknowns'),
    ...(typeof members['confidence'] === 'number' && {
      confidence: { score: members['confidence'], basis: basis || T.notAssessed },
    }),
    business_context: {
      domain: text(context['domain']),
      use_case: text(context['use_case']),
      time_horizon: text(context['time_horizon']),
      affected_scope: Object.fromEntries(
        scope.map((each) => [text(each['name']) || 'scope', text(each['value'])]),
      ),
    },
    boundaries: {
      disclosure_level: policy.granularity.level,
      not_disclosed: texts('not_disclosed'),
      retention_days: policy.retention.duration_days,
      forwarding_allowed: policy.forwarding.allowed,
    },
    response_required: {
      required: true,
      deadline: text(members['deadline']),
      expected_response_types: texts('expected'),
    },
  })
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
