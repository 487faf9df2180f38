import type { JsonObject } from '@agent-exchange/protocol'
import { field, html, type Field, type Html } from '@agent-exchange/web'
import { labelOf } from './object-view.ts'

interface FormField {
  readonly kind: 'text' | 'lines' | 'yes-no' | 'choices' | 'select'
  /** Path of the member, with dots. */
  readonly name: string
  readonly isRequired: boolean
  /** Of `choices` and `select`. */
  readonly values: readonly string[]
}

interface FormGroup {
  /** `item` is the first item of a list. */
  readonly kind: 'group' | 'item'
  readonly name: string
  readonly parts: readonly FormPart[]
  /** Members that are made, not asked for. */
  readonly ids: readonly string[]
}

/**
 * A form made from a JSON schema, and its way back. A member without a known shape (O-34) is asked for by the names that
 * its schema lists as in use.
 */
export type FormPart = FormField | FormGroup

/** Values that the schema of a fact lists for this member. */
const SENSITIVITIES = ['public', 'internal', 'confidential', 'restricted']

/** The parts of an object schema, without the named members (such as `boundaries.disclosure_level`). */
export function formParts(schema: JsonObject, omitted: ReadonlySet<string>, prefix = ''): FormPart[] {
  const required = listOf(schema['required'])
  return Object.entries(objectOf(schema['properties'])).flatMap(([member, inner]) => {
    const name = `${prefix}${member}`
    return omitted.has(name) ? [] : partOf(objectOf(inner), name, required.includes(member), omitted)
  })
}

function partOf(
  schema: JsonObject,
  name: string,
  isRequired: boolean,
  omitted: ReadonlySet<string>,
): FormPart[] {
  const { type } = schema
  const items = objectOf(schema['items'])
  const inUse = listOf(schema['x-values-in-use'])
  const one = (kind: FormField['kind'], values: readonly string[] = []) => [
    { kind, name, isRequired, values },
  ]
  if (type === 'string') return one('text')
  if (type === 'boolean') return one('yes-no', ['yes', 'no'])
  if (type === 'array' && items['enum']) return one('choices', listOf(items['enum']))
  if (type === 'array' && items['type'] === 'string') return one('lines')
  if (inUse.length > 0) return [usedMembers(type === 'array' ? 'item' : 'group', name, inUse)]
  const parts = type === 'object' ? formParts(schema, omitted, `${name}.`) : []
  return parts.length === 0 ? [] : [{ kind: 'group', name, parts, ids: [] }]
}

function usedMembers(kind: FormGroup['kind'], name: string, members: readonly string[]): FormGroup {
  const parts = members
    .filter((member) => !isId(member))
    .map((member): FormField => {
      const isSensitivity = member === 'sensitivity'
      const fieldKind = member.endsWith('_refs') ? 'lines' : 'text'
      return {
        kind: isSensitivity ? 'select' : fieldKind,
        name: `${name}.${member}`,
        isRequired: false,
        values: isSensitivity ? SENSITIVITIES : [],
      }
    })
  return { kind, name, parts, ids: members.filter(isId) }
}

function isId(member: string): boolean {
  return member.endsWith('_id')
}

export interface FormValues {
  readonly fields: URLSearchParams
  /** By name of the part. */
  readonly errors: ReadonlyMap<string, string>
}

export function partView(formId: string, part: FormPart, values: FormValues): Html {
  if ('parts' in part)
    return html`<details class="choices">
      <summary>${labelOf(part.name)}</summary>
      ${part.parts.map((inner) => partView(formId, inner, values))}
    </details>`
  if (part.kind !== 'choices') return field(formId, controlOf(part, values))
  const error = values.errors.get(part.name)
  return html`<fieldset class="choices">
    <legend>${labelOf(part.name)}</legend>
    ${error !== undefined && html`<p class="error bad">${error}</p>`}
    ${part.values.map((value) => {
      const name = `${part.name}.${value}`
      const isChecked = values.fields.has(name)
      return field(formId, { kind: 'checkbox', name, label: labelOf(value), isChecked })
    })}
  </fieldset>`
}

function controlOf({ kind, name, isRequired, values }: FormField, { fields, errors }: FormValues): Field {
  const error = errors.get(name)
  const shared = {
    name,
    label: labelOf(name.split('.').at(-1) ?? name),
    value: fields.get(name) ?? '',
    ...(error !== undefined && { error }),
  }
  if (kind === 'text') return { kind: 'textarea', isRequired, ...shared }
  // An empty list is a value.
  if (kind === 'lines') return { kind: 'textarea', hint: 'One a line.', ...shared }
  const options = [{ value: '', label: 'not stated' }, ...values.map((value) => ({ value, label: value }))]
  return { kind: 'select', isRequired, options, ...shared }
}

/** The members that the person filled in. `newId` makes the ids of new items. */
export function membersFrom(
  parts: readonly FormPart[],
  fields: URLSearchParams,
  newId: (member: string) => string,
): Record<string, unknown> {
  const members = parts.map((part) => {
    const value = 'parts' in part ? groupFrom(part, fields, newId) : valueFrom(part, fields)
    return [part.name.split('.').at(-1) ?? part.name, value] as const
  })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

function groupFrom(
  { kind, parts, ids }: FormGroup,
  fields: URLSearchParams,
  newId: (member: string) => string,
): unknown {
  const members = membersFrom(parts, fields, newId)
  if (Object.keys(members).length === 0) return undefined
  const complete = { ...Object.fromEntries(ids.map((member) => [member, newId(member)])), ...members }
  return kind === 'item' ? [complete] : complete
}

function valueFrom({ kind, name, isRequired, values }: FormField, fields: URLSearchParams): unknown {
  if (kind === 'choices') return values.filter((value) => fields.has(`${name}.${value}`))
  const text = (fields.get(name) ?? '').replaceAll('\r\n', '\n').trim()
  if (text === '' && !isRequired) return undefined
  if (kind === 'yes-no') return text === 'yes'
  if (kind !== 'lines') return text
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
