import { attributes, html, type Html, type Part } from '../template/html.ts'
import { CSRF_FIELD } from '../security/csrf.ts'
import { button, type Button } from './button.ts'
import { field, type Field } from './field.ts'
import { notice } from './notice.ts'
import { isRefused, refill, type RefusedForm } from './refused-form.ts'

export interface Form {
  /** Unique on the page. */
  readonly id: string
  readonly action: string
  /** From `csrfToken`. A form that changes something cannot be made without one. */
  readonly csrfToken: string
  /** The form that was refused last, if one was: this one shows it again if it is the same. */
  readonly refused?: RefusedForm | undefined
  readonly fields: readonly Field[]
  readonly submit: Button
  readonly cancel?: { readonly href: string; readonly label: string }
}

/** What every form of a page takes from the request. */
export type FormState = Pick<Form, 'csrfToken' | 'refused'>

/**
 * A form that changes something: always POST. Errors of its fields are listed first and shown again beside them; why a form was
 * refused is a message of the page.
 */
export function form({ id, action, csrfToken, refused, fields, submit, cancel }: Form): Html {
  const shown = isRefused(action, fields, refused) ? refill(fields, refused) : fields
  return html`<form ${attributes({ id, action, method: 'post' })}>
    ${errorSummary(id, fields)}
    <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />
    ${shown.map((given) => field(id, given))}
    <p class="actions">
      ${button({ tone: 'primary', ...submit })}
      ${cancel && html`<a href="${cancel.href}">${cancel.label}</a>`}
    </p>
  </form>`
}

export interface FilterForm {
  readonly id: string
  readonly action: string
  readonly fields: readonly Field[]
  readonly submitLabel: string
}

/** A form that only asks: GET, so that its result has an address. */
export function filterForm({ id, action, fields, submitLabel }: FilterForm): Html {
  return html`<form ${attributes({ id, action, method: 'get', class: 'inline', role: 'search' })}>
    ${fields.map((given) => field(id, given))} ${button({ label: submitLabel })}
  </form>`
}

export interface Confirmation {
  /** Opens the confirmation, such as "Suspend…". */
  readonly summary: string
  /** What will happen, before it does. */
  readonly explanation: Part
  readonly form: Form
}

/** A second step before a change; red, unless the button has another tone. `details` opens without script. */
export function confirmation({ summary, explanation, form: { submit, ...rest } }: Confirmation): Html {
  const tone = submit.tone ?? 'danger'
  const open = isRefused(rest.action, rest.fields, rest.refused)
  return html`<details ${attributes({ class: tone === 'danger' ? 'confirm danger' : 'confirm', open })}>
    <summary>${summary}</summary>
    <div>
      <p>${explanation}</p>
      ${form({ ...rest, submit: { ...submit, tone } })}
    </div>
  </details>`
}

function errorSummary(id: string, fields: readonly Field[]): Html | undefined {
  const faulty = fields.filter((given) => given.kind !== 'hidden' && given.error !== undefined)
  if (faulty.length === 0) return undefined
  const links = faulty.map(
    (given, index) =>
      html`${index > 0 && ', '}<a href="#${id}-${given.name}"
          >${given.kind === 'hidden' ? '' : given.label}</a
        >`,
  )
  return notice({ tone: 'bad', title: 'Nothing was changed.', text: html`Please correct: ${links}.` })
}
