import { ENVELOPE_MEMBERS, schemaDocument, type PolicyEnvelope } from '@agent-exchange/protocol'
import type { ComparedItem, StoryCompany, StoryFact } from '@agent-exchange/sdk'
import type { makersOf } from '@agent-exchange/sdk/internal'
import { TASK_TEXTS as T } from './texts/answer-texts.ts'
import { listOf, objectOf } from './form-members.ts'
import { formField, type FormGroup, type FormPart } from './form-parts.ts'
import { formParts, SENSITIVITIES } from './schema-form.ts'
import { shownText } from './story-parts.ts'

type ResponseContent = Parameters<ReturnType<typeof makersOf>['responseObject']>[0]
export type AnswerContent = Omit<ResponseContent, 'to'>

/** What the form of an answer offers to choose from. */
export interface AnswerSubject {
  /** Of the answered package. */
  readonly facts: readonly StoryFact[]
  readonly options: readonly ComparedItem[]
  /** Companies of the thread, by their names. */
  readonly companies: readonly Pick<StoryCompany, 'organizationId'>[]
  readonly nameOf: (organizationId: string) => string
  readonly policy: PolicyEnvelope
}

interface AnswerTask {
  parts(subject: AnswerSubject): readonly FormPart[]
  /** From the members that the form asked for to what the maker of a response takes. */
  content(members: Readonly<Record<string, unknown>>, subject: AnswerSubject): AnswerContent
}

export const ANSWER_TASKS = [
  'accept',
  'challenge',
  'constraint',
  'options',
  'decision',
  'decline',
  'free',
] as const
export type AnswerTaskId = (typeof ANSWER_TASKS)[number]

/** Member that names an option. */
export const OPTION_ID = 'option_id'
/** Longer lists have their last entries on the page of the package. */
const MAXIMUM_CHOICES = 100
const SEVERITIES = ['low', 'medium', 'high', 'critical']

const summary = (isRequired = true, hint?: string) =>
  formField('text', 'response_summary', { isRequired, label: T.summary, ...(hint !== undefined && { hint }) })
const notDisclosed: FormPart = {
  kind: 'group',
  name: 'boundaries',
  label: T.boundaries,
  ids: [],
  parts: [formField('lines', 'boundaries.not_disclosed', { label: T.notDisclosed })],
}
const optionList: FormGroup = {
  kind: 'list',
  name: 'options',
  label: T.option,
  isOpen: true,
  ids: [OPTION_ID],
  parts: [formField('text', 'options.summary', { label: T.optionSummary })],
}
const factList: FormGroup = {
  kind: 'list',
  name: 'added_facts',
  label: T.addedFact,
  isOpen: true,
  ids: ['fact_id'],
  parts: [
    formField('text', 'added_facts.statement', { label: T.statement }),
    formField('lines', 'added_facts.evidence_refs', { label: T.evidenceRefs, hint: T.evidenceHint }),
    formField('select', 'added_facts.sensitivity', { label: T.sensitivity, values: SENSITIVITIES }),
  ],
}

export const TASKS: Readonly<Record<AnswerTaskId, AnswerTask>> = {
  accept: {
    parts: ({ options }) => [
      formField('select', 'option', {
        label: T.acceptedOption,
        hint: T.acceptedHint,
        ...optionChoices(options),
      }),
      summary(options.length === 0),
      notDisclosed,
    ],
    content: ({ option, response_summary: text = '' }, { options }) => {
      const chosen = options.find((each) => optionId(each) === option)
      const agreement = { agrees_with_sender_summary: true }
      if (!chosen) return { summary: String(text), actions: ['agree'], agreement }
      const sentence = T.weAccept(optionText(chosen), String(option))
      return { summary: [sentence, String(text)].filter(Boolean).join(' '), actions: ['agree'] }
    },
  },

  challenge: {
    parts: ({ facts }) => [
      {
        kind: 'list',
        name: 'points',
        label: T.challengedPoint,
        isOpen: true,
        ids: [],
        parts: [
          ...(facts.length > 0
            ? [formField('select', 'points.fact', { label: T.challengedFact, ...factChoices(facts) })]
            : []),
          formField('line', 'points.words', { label: facts.length > 0 ? T.orOwnWords : T.ownWords }),
        ],
      },
      factList,
      summary(),
      notDisclosed,
    ],
    content: ({ points, added_facts: added, response_summary: text }) => {
      const challenged_points = listOf(points).flatMap((point) =>
        ['fact', 'words'].map((member) => objectOf(point)[member]).filter((each) => typeof each === 'string'),
      )
      return {
        summary: String(text),
        actions: added === undefined ? ['challenge'] : ['challenge', 'add_context'],
        agreement: { agrees_with_sender_summary: false, challenged_points },
        ...withFacts(added),
      }
    },
  },

  constraint: {
    parts: () => [
      {
        kind: 'list',
        name: 'constraints',
        label: T.constraint,
        isOpen: true,
        ids: [],
        parts: [
          formField('line', 'constraints.constraint_type', { label: T.constraintType }),
          formField('line', 'constraints.scope', { label: T.scope }),
          formField('select', 'constraints.severity', { label: T.severity, values: SEVERITIES }),
          formField('line', 'constraints.time_impact', { label: T.timeImpact }),
        ],
      },
      summary(),
      notDisclosed,
    ],
    content: ({ constraints, response_summary: text }) => ({
      summary: String(text),
      actions: ['provide_constraint'],
      constraints: [...listOf(constraints)],
    }),
  },

  options: {
    parts: () => [optionList, summary(), notDisclosed],
    content: ({ options, response_summary: text }) => ({
      summary: String(text),
      actions: ['provide_option'],
      options: [...listOf(options)],
    }),
  },

  decision: {
    parts: ({ companies, nameOf }) => [
      {
        kind: 'group',
        name: 'recipient_request',
        label: T.requestedDecision,
        isOpen: true,
        ids: [],
        parts: [
          formField('select', 'recipient_request.requested_from', {
            label: T.requestedFrom,
            isRequired: true,
            values: companies.map(({ organizationId }) => organizationId),
            labels: Object.fromEntries(
              companies.map(({ organizationId }) => [organizationId, nameOf(organizationId)]),
            ),
          }),
          formField('text', 'recipient_request.summary', { label: T.question, isRequired: true }),
          formField('date', 'recipient_request.deadline', { label: T.decideBy, hint: T.endOfDay }),
        ],
      },
      optionList,
      summary(),
      notDisclosed,
    ],
    content: ({ recipient_request: request, options, response_summary: text }) => ({
      summary: String(text),
      actions:
        options === undefined ? ['request_human_decision'] : ['request_human_decision', 'provide_option'],
      recipient_request: { request_type: 'human_decision', ...objectOf(request) },
      ...(options !== undefined && { options: [...listOf(options)] }),
    }),
  },

  decline: {
    parts: () => [summary(true, T.declineHint), notDisclosed],
    content: ({ response_summary: text }, { policy }) => ({
      summary: String(text),
      actions: ['decline_with_policy'],
      policy_decline: { policy_id: policy.policy_id },
    }),
  },

  /** Every member of the schema that a person can fill in. */
  free: {
    parts: () => FREE_PARTS,
    content: ({ response_actions, response_summary: text, ...members }) => ({
      ...members,
      summary: String(text),
      actions: [...listOf(response_actions)] as NonNullable<AnswerContent['actions']>,
    }),
  },
}

const FREE_PARTS = formParts(
  schemaDocument('response_object'),
  new Set([
    ...ENVELOPE_MEMBERS,
    'responds_to_package_id',
    'policy_envelope',
    'policy_decline',
    'boundaries.disclosure_level',
  ]),
)

/** A fact without a sensitivity is confidential, as the maker of a package has it. */
function withFacts(added: unknown): Pick<AnswerContent, 'added_facts'> {
  if (added === undefined) return {}
  return { added_facts: listOf(added).map((fact) => ({ sensitivity: 'confidential', ...objectOf(fact) })) }
}

function factChoices(facts: readonly StoryFact[]) {
  const shown = facts.slice(0, MAXIMUM_CHOICES)
  return {
    values: shown.map(({ factId }) => factId),
    labels: Object.fromEntries(shown.map(({ factId, statement }) => [factId, shownText(statement.text)])),
  }
}

function optionChoices(options: readonly ComparedItem[]) {
  const shown = options.slice(0, MAXIMUM_CHOICES).filter((option) => optionId(option) !== undefined)
  return {
    values: shown.map((option) => optionId(option) ?? ''),
    labels: Object.fromEntries(
      shown.map((option) => [optionId(option) ?? '', shownText(optionText(option))]),
    ),
  }
}

export function optionId({ members }: ComparedItem): string | undefined {
  return members.find(({ name }) => name === OPTION_ID)?.text.text
}

function optionText(option: ComparedItem): string {
  return option.members.find(({ name }) => name === 'summary')?.text.text ?? optionId(option) ?? ''
}
