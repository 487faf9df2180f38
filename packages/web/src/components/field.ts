import { attributes, html, type Html } from '../template/html.ts'
import { mark } from './tone.ts'

interface FieldBase {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** Why the last value was refused. */
  readonly error?: string
  readonly isRequired?: boolean
  /** Has the focus when the page opens, and is scrolled to. At most one field of a page. */
  readonly hasFocus?: boolean
}

export type Field =
  | (FieldBase & {
      readonly kind: 'text' | 'password' | 'email' | 'url' | 'search' | 'number' | 'date'
      readonly value?: string
      readonly maxLength?: number
      readonly autocomplete?: string
    })
  | (FieldBase & { readonly kind: 'textarea'; readonly value?: string; readonly maxLength?: number })
  | (FieldBase & {
      readonly kind: 'select'
      readonly value?: string
      readonly options: readonly { readonly value: string; readonly label: string }[]
    })
  | (FieldBase & { readonly kind: 'checkbox'; readonly isChecked?: boolean })
  | { readonly kind: 'hidden'; readonly name: string; readonly value: string }

/** A labelled control with its hint and its error beside it. `formId` keeps ids unique on the page. */
export function field(formId: string, given: Field): Html {
  if (given.kind === 'hidden')
    return html`<input type="hidden" name="${given.name}" value="${given.value}" />`
  const { label, hint, error, isRequired, hasFocus } = given
  const id = `${formId}-${given.name}`
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const shared = {
    id,
    name: given.name,
    required: isRequired,
    autofocus: hasFocus,
    'aria-describedby': described || undefined,
    'aria-invalid': error ? 'true' : undefined,
  }
  const note = isRequired ? null : html` <span class="quiet">(optional)</span>`
  const labelled =
    given.kind === 'checkbox'
      ? html`<label class="beside" for="${id}">${control(given, shared)}<span>${label}</span></label>`
      : html`<label for="${id}">${label}${note}</label>${control(given, shared)}`
  return html`<div class="field">
    ${labelled} ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${error && html`<p class="error bad" id="${id}-error">${mark()}<span>${error}</span></p>`}
  </div>`
}

type Shared = Parameters<typeof attributes>[0]

function control(given: Exclude<Field, { kind: 'hidden' }>, shared: Shared): Html {
  if (given.kind === 'checkbox')
    return html`<input
      ${attributes({ ...shared, type: 'checkbox', value: 'on', checked: given.isChecked })}
    />`
  // A parser drops one line break after the start tag, so the template has one.
  if (given.kind === 'textarea')
    return html`<textarea ${attributes({ ...shared, rows: 4, maxlength: given.maxLength })}>
${given.value}</textarea>`
  if (given.kind === 'select') {
    const options = given.options.map(
      ({ value, label }) =>
        html`<option ${attributes({ value, selected: value === given.value })}>${label}</option>`,
    )
    return html`<select ${attributes(shared)}>
      ${options}
    </select>`
  }
  const { kind: type, value, maxLength: maxlength, autocomplete = 'off' } = given
  return html`<input ${attributes({ ...shared, type, value, maxlength, autocomplete })} />`
}
