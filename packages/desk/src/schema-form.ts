import type { JsonObject } from '@agent-exchange/protocol'
import { listOf, objectOf } from './form-members.ts'
import { formField, type FormField, type FormGroup, type FormPart } from './form-parts.ts'

/** Values that the schema of a fact lists for this member. */
export const SENSITIVITIES = ['public', 'internal', 'confidential', 'restricted']

/**
 * A form made from a JSON schema, without the named members (such as `boundaries.disclosure_level`). A member without a
 * known shape (O-34) is asked for by the names that its schema lists as in use.
 */
export function formParts(schema: JsonObject, omitted: ReadonlySet<string>, prefix = ''): FormPart[] {
  const required = textsOf(schema['required'])
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
  const inUse = textsOf(schema['x-values-in-use'])
  const one = (kind: FormField['kind'], values: readonly string[] = []) => [
    formField(kind, name, { isRequired, values }),
  ]
  if (type === 'string') return one('text')
  if (type === 'boolean') return one('yes-no', ['yes', 'no'])
  if (type === 'array' && items['enum']) return one('choices', textsOf(items['enum']))
  if (type === 'array' && items['type'] === 'string') return one('lines')
  if (inUse.length > 0) return [usedMembers(type === 'array' ? 'list' : 'group', name, inUse)]
  const parts = type === 'object' ? formParts(schema, omitted, `${name}.`) : []
  return parts.length === 0 ? [] : [{ kind: 'group', name, parts, ids: [] }]
}

/** A group of members by their names in use: ids are made, references are lists. */
function usedMembers(kind: FormGroup['kind'], name: string, members: readonly string[]): FormGroup {
  const parts = members.filter((member) => !isId(member)).map((member) => usedMember(name, member))
  return { kind, name, parts, ids: members.filter(isId) }
}

function usedMember(list: string, member: string): FormField {
  const name = `${list}.${member}`
  if (member === 'sensitivity') return formField('select', name, { values: SENSITIVITIES })
  if (member === 'deadline') return formField('date', name)
  return formField(member.endsWith('_refs') ? 'lines' : 'text', name)
}

function isId(member: string): boolean {
  return member.endsWith('_id')
}

function textsOf(value: unknown): string[] {
  return listOf(value).map(String)
}
