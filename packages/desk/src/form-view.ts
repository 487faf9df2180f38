import { attributes, button, field, html, type Field, type Html } from '@agent-exchange/web'
import { MAXIMUM_ROWS } from './desk-limits.ts'
import { TEXTS } from './texts/story-texts.ts'
import { memberOf, rowParts, type FormField, type FormGroup, type FormPart } from './form-parts.ts'
import { ADD_ROW, rowCount, rowCountField } from './form-rows.ts'
import { labelOf } from './object-view.ts'

export interface FormValues {
  readonly fields: URLSearchParams
  /** By name of the part. */
  readonly errors: ReadonlyMap<string, string>
  /** Name of the field that has the focus when the page opens. */
  readonly focus?: string
}

export function partView(formId: string, part: FormPart, values: FormValues): Html {
  if ('parts' in part) return groupView(formId, part, values)
  if (part.kind !== 'choices') return field(formId, controlOf(part, values))
  const error = values.errors.get(part.name)
  return html`<fieldset class="choices">
    <legend>${titleOf(part)}</legend>
    ${error !== undefined && html`<p class="error bad">${error}</p>`}
    ${part.values.map((value) => {
      const name = `${part.name}.${value}`
      const isChecked = values.fields.has(name)
      const label = part.labels?.[value] ?? labelOf(value)
      return field(formId, { kind: 'checkbox', name, label, isChecked })
    })}
  </fieldset>`
}

function groupView(formId: string, group: FormGroup, values: FormValues): Html {
  const content =
    group.kind === 'list'
      ? listView(formId, group, values)
      : group.parts.map((inner) => partView(formId, inner, values))
  if (group.isOpen)
    return html`<fieldset class="choices">
      <legend>${titleOf(group)}</legend>
      ${content}
    </fieldset>`
  const isFilled = [...values.fields].some(([name, value]) => isWithin(name, group) && value.trim() !== '')
  const hasError = [...values.errors.keys()].some((name) => isWithin(name, group))
  return html`<details ${attributes({ class: 'choices', open: isFilled || hasError })}>
    <summary>${titleOf(group)}</summary>
    ${content}
  </details>`
}

/** Rows, and a button that adds one: the form is sent, and comes back with it. */
function listView(formId: string, group: FormGroup, values: FormValues): Html {
  const rows = rowCount(values.fields, group.name)
  return html`${field(formId, rowCountField(group.name, rows))}
  ${Array.from(
    { length: rows },
    (_, row) =>
      html`<fieldset class="row">
        <legend>${titleOf(group)} ${row + 1}</legend>
        ${rowParts(group, row).map((inner) => partView(formId, inner, values))}
      </fieldset>`,
  )}
  ${rows < MAXIMUM_ROWS && button({ label: TEXTS.addRow, name: ADD_ROW, value: group.name, skipsValidation: true })}`
}

function isWithin(name: string, group: FormGroup): boolean {
  return name.startsWith(`${group.name}.`) && name !== rowCountField(group.name, 1).name
}

function titleOf(part: FormPart): string {
  return part.label ?? labelOf(memberOf(part))
}

function controlOf(part: FormField, { fields, errors, focus }: FormValues): Field {
  const { kind, name, isRequired, values, labels } = part
  const error = errors.get(name)
  const hint = part.hint ?? (kind === 'lines' ? TEXTS.oneALine : undefined)
  const shared = {
    name,
    label: titleOf(part),
    value: fields.get(name) ?? '',
    ...(hint !== undefined && { hint }),
    ...(error !== undefined && { error }),
    ...(focus === name && { hasFocus: true }),
  }
  if (kind === 'text') return { kind: 'textarea', isRequired, ...shared }
  // An empty list is a value.
  if (kind === 'lines') return { kind: 'textarea', ...shared }
  if (kind === 'line') return { kind: 'text', isRequired, ...shared }
  if (kind === 'date' || (kind === 'number' && values.length === 0)) return { kind, isRequired, ...shared }
  const options = values.map((value) => ({ value, label: labels?.[value] ?? value }))
  const none = { value: '', label: TEXTS.notStated }
  return { kind: 'select', isRequired, options: isRequired ? options : [none, ...options], ...shared }
}
