import { newObject } from '@agent-exchange/sdk/internal'
import { ExchangeError, type AgentAddress } from '@agent-exchange/sdk'
import { html, notice, type Html, type Notice } from '@agent-exchange/web'
import {
  composedResult,
  composeForm,
  fieldErrors,
  resultRegion,
  stepOf,
  type Composed,
} from './composition.ts'
import { conversationParts, packageFrom, recipientFrom } from './conversation-form.ts'
import { PACKAGE_TEMPLATES, templateValues, type PackageTemplate } from './conversation-templates.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { COMPOSE_TEXTS, CONVERSATION_TEXTS as T } from './texts/answer-texts.ts'
import { withAddedRow } from './form-rows.ts'
import type { FormValues } from './form-view.ts'
import { readThreads } from './read-threads.ts'

const FORM = 'conversation'

/** The six templates for a new conversation. */
export async function templatesPage(_call: DeskCall): Promise<DeskAnswer> {
  return {
    kind: 'page',
    title: T.title,
    section: 'new',
    main: html`<p>${T.choose}</p>
      <ul class="templates">
        ${PACKAGE_TEMPLATES.map(
          (template) =>
            html`<li>
              <a href="/new/${template}">${T.templates[template].title}</a>
              <p class="said">${T.templates[template].explanation}</p>
            </li>`,
        )}
      </ul>`,
  }
}

export function conversationPage(template: PackageTemplate) {
  return async (call: DeskCall): Promise<DeskAnswer> => {
    const fields = templateValues(template)
    return pageWith(call, { template, values: { fields, errors: new Map() } })
  }
}

/** Adds a row, shows the preview and the checks, or makes the draft. */
export function makeConversation(template: PackageTemplate) {
  return async (call: DeskCall): Promise<DeskAnswer> => {
    const step = stepOf(call.fields)
    if (step === 'add')
      return pageWith(call, { template, values: { fields: withAddedRow(call.fields), errors: new Map() } })
    const to = recipientFrom(call.fields)
    const composed = to && (await compose(call, template, to))
    const errors = new Map([
      ...(composed ? fieldErrors(call, composed) : [['to.organization', T.nameRecipient] as const]),
      ...REQUIRED.filter((name) => (call.fields.get(name) ?? '').trim() === '').map(
        (name) => [name, T.fillIn] as const,
      ),
    ])
    if (composed && step === 'draft' && errors.size === 0) {
      const draft = await call.agent.drafts.create(composed.input)
      return { kind: 'redirect', to: pathTo('drafts', draft.draftId), done: 'drafted' }
    }
    const result = composed ? await composedResult(call, composed, errors) : html`<p>${T.nameRecipient}</p>`
    if (step === 'live')
      return { kind: 'page', title: COMPOSE_TEXTS.check, section: 'new', main: resultRegion(result) }
    const problem = { tone: 'bad', title: COMPOSE_TEXTS.noDraft, text: COMPOSE_TEXTS.correct } as const
    return pageWith(call, {
      template,
      values: { fields: call.fields, errors },
      result,
      ...(step === 'draft' && { problem }),
    })
  }
}

/** The schema permits empty texts here; a conversation does not begin with one. */
const REQUIRED = [
  'summary',
  'ask',
  'business_context.domain',
  'business_context.use_case',
  'business_context.time_horizon',
  'deadline',
]

async function compose(
  { agent, fields, now }: DeskCall,
  template: PackageTemplate,
  to: AgentAddress,
): Promise<Composed> {
  const by = agent.identity
  const [known, skill, names] = await Promise.all([
    agent.defaultPolicy(to.organizationId),
    agent.defaultSkill(),
    agent.names(),
  ])
  if (!skill) throw new ExchangeError('input_invalid', { what: T.noSkill })
  const policy = known ?? newObject('policy_envelope', { by, to: to.organizationId, now })
  const object = packageFrom(fields, { template, by, now, policy, to })
  return {
    input: { object, policy, to, skill, requireApproval: true },
    unsent: { object, from: by, to },
    thread: { threadId: object.thread_id, reader: by.organizationId, packages: [] },
    names,
  }
}

interface ShownConversation {
  readonly template: PackageTemplate
  readonly values: FormValues
  readonly result?: Html
  readonly problem?: Notice
}

async function pageWith(
  call: DeskCall,
  { template, values, result, problem }: ShownConversation,
): Promise<DeskAnswer> {
  const { title, explanation } = T.templates[template]
  return {
    kind: 'page',
    title,
    section: 'new',
    ...(problem && { status: 422 }),
    main: html`<p>${explanation}</p>
      ${problem && notice(problem)}
      ${composeForm(call, {
        id: FORM,
        action: `/new/${template}`,
        parts: conversationParts(template, await partnersOf(call)),
        values,
        result,
      })}`,
  }
}

/** Agents of other companies in the newest conversations. */
async function partnersOf(call: DeskCall): Promise<readonly AgentAddress[]> {
  const threads = await call.agent.threads()
  const read = await readThreads(
    call,
    threads.map(({ threadId }) => threadId),
  )
  const found = [...read.values()].flatMap(({ companies }) =>
    companies
      .filter(({ isReader }) => !isReader)
      .flatMap(({ organizationId, agents }) => agents.map((agentId) => ({ organizationId, agentId }))),
  )
  return [...new Map(found.map((each) => [`${each.organizationId} ${each.agentId}`, each])).values()]
}
