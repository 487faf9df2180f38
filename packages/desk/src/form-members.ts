import type { JsonObject } from '@agent-exchange/protocol'
import { memberOf, rowParts, type FormField, type FormGroup, type FormPart } from './form-parts.ts'
import { rowCount } from './form-rows.ts'

type NewId = (member: string) => string

/** The members that the person filled in. `newId` makes the ids of new items. */
export function membersFrom(
  parts: readonly FormPart[],
  fields: URLSearchParams,
  newId: NewId,
): Record<string, unknown> {
  const members = parts.map((part) => {
    const value = 'parts' in part ? groupFrom(part, fields, newId) : valueFrom(part, fields)
    return [memberOf(part), value] as const
  })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

function groupFrom(group: FormGroup, fields: URLSearchParams, newId: NewId): unknown {
  if (group.kind === 'group') return completed(group, membersFrom(group.parts, fields, newId), newId)
  const rows = Array.from({ length: rowCount(fields, group.name) }, (_, row) => {
    const parts = rowParts(group, row)
    return isFilled(parts, fields) ? completed(group, membersFrom(parts, fields, newId), newId) : undefined
  }).filter((row) => row !== undefined)
  return rows.length === 0 ? undefined : rows
}

function completed({ ids }: FormGroup, members: Record<string, unknown>, newId: NewId): unknown {
  if (Object.keys(members).length === 0) return undefined
  return { ...Object.fromEntries(ids.map((member) => [member, newId(member)])), ...members }
}

/** An empty row is no item. A chosen value alone is none either: a select has one from the start. */
function isFilled(parts: readonly FormPart[], fields: URLSearchParams): boolean {
  const isTyped = (part: FormPart): boolean =>
    'parts' in part
      ? part.parts.some(isTyped)
      : (part.kind !== 'select' || !part.isRequired) && (fields.get(part.name) ?? '').trim() !== ''
  return parts.some(isTyped)
}

function valueFrom({ kind, name, isRequired, values }: FormField, fields: URLSearchParams): unknown {
  if (kind === 'choices') return values.filter((value) => fields.has(`${name}.${value}`))
  const text = (fields.get(name) ?? '').replaceAll('\r\n', '\n').trim()
  if (text === '' && !isRequired) return undefined
  if (kind === 'yes-no') return text === 'yes'
  if (kind === 'number') return text === '' ? undefined : Number(text)
  if (kind === 'date') return /^\d{4}-\d\d-\d\d$/u.test(text) ? `${text}T23:59:59Z` : text
  if (kind !== 'lines') return text
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
