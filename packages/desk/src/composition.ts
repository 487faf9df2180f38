import type { AddressBook } from '@agent-exchange/log'
import { validateObject, type Failure } from '@agent-exchange/protocol'
import { ExchangeError, type DraftInput, type ThreadObjects } from '@agent-exchange/sdk'
import { attributes, button, CSRF_FIELD, html, notice, type Html } from '@agent-exchange/web'
import { previewView, storyOfUnsent, type UnsentPackage } from './answer-preview.ts'
import { checkTable } from './check-table.ts'
import type { DeskCall } from './desk-call.ts'
import { CHECK_WAIT_MS } from './desk-limits.ts'
import { CHECK_TEXTS } from './texts/draft-texts.ts'
import { COMPOSE_TEXTS as T } from './texts/answer-texts.ts'
import type { FormPart } from './form-parts.ts'
import { ADD_ROW } from './form-rows.ts'
import { partView, type FormValues } from './form-view.ts'
import { textOf } from './object-view.ts'

/** Element that the script of the desk replaces while the person types. */
const RESULT_ID = 'compose-result'
const STEP = 'step'

/** What the person asked for with the form: another row, a look at the result, or a draft. */
export type ComposeStep = 'add' | 'check' | 'live' | 'draft'

export function stepOf(fields: URLSearchParams): ComposeStep {
  if (fields.has(ADD_ROW)) return 'add'
  const step = fields.get(STEP)
  return step === 'check' || step === 'live' ? step : 'draft'
}

export interface ComposeForm {
  readonly id: string
  readonly action: string
  readonly parts: readonly FormPart[]
  readonly values: FormValues
  readonly result?: Html | undefined
}

/** A form whose content becomes a draft, with a preview and the checks of the policy. */
export function composeForm(
  { csrfToken }: DeskCall,
  { id, action, parts, values, result }: ComposeForm,
): Html {
  return html`<form ${attributes({ id, action, method: 'post', 'data-compose': RESULT_ID })}>
    <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />
    ${parts.map((part) => partView(id, part, values))}
    <p class="hint">${T.becomesDraft}</p>
    <p class="actions">
      ${button({ label: T.makeDraft, tone: 'primary', name: STEP, value: 'draft' })}
      ${button({ label: T.check, name: STEP, value: 'check', skipsValidation: true })}
    </p>
    ${resultRegion(result)}
  </form>`
}

/** The part of the form that says what it would lead to. */
export function resultRegion(result: Html | undefined): Html {
  return html`<section ${attributes({ id: RESULT_ID, class: 'compose-result', 'aria-live': 'polite' })}>
    ${result}
  </section>`
}

export interface Composed {
  readonly input: DraftInput
  readonly unsent: UnsentPackage
  readonly thread: ThreadObjects
  readonly names: AddressBook
}

/** Why the object cannot be sent as it is, by the name of the field. */
export function fieldErrors({ agent }: DeskCall, { input }: Pick<Composed, 'input'>): Map<string, string> {
  const { failures } = validateObject(input.object, agent.profile)
  return new Map(failures.map(({ pointer, message }) => [fieldName({ pointer }), message]))
}

function fieldName({ pointer }: Pick<Failure, 'pointer'>): string {
  return pointer.slice(1).replaceAll('/', '.')
}

/** What the recipient will read, and what the five checks say. */
export async function composedResult(
  { agent, now }: DeskCall,
  composed: Composed,
  errors: ReadonlyMap<string, string>,
): Promise<Html> {
  if (errors.size > 0)
    return notice({
      tone: 'warn',
      title: T.incomplete,
      text: html`${[...errors].map(([name, message]) => html`${textOf(name)}: ${textOf(message)}<br />`)}`,
    })
  const { input, unsent, thread, names } = composed
  return html`<h3>${CHECK_TEXTS.caption}</h3>
    ${await checksOf(agent.drafts, input)}
    <h3>${T.preview}</h3>
    ${previewView(storyOfUnsent(thread, unsent, now), names)}`
}

async function checksOf(drafts: DeskCall['agent']['drafts'], input: DraftInput): Promise<Html> {
  try {
    const { checks } = await drafts.check(input, { signal: AbortSignal.timeout(CHECK_WAIT_MS) })
    return checkTable(checks)
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error
    return notice({ tone: 'warn', title: CHECK_TEXTS.unknown, text: error.message })
  }
}
