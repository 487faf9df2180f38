import { resolve } from './schema-facts.js'

/** A body may hold objects in objects, but not without end. */
const MAXIMUM_DEPTH = 16

const DIGEST = `sha-256=:${'A'.repeat(43)}=:`
const SIGNATURE = 'A'.repeat(86)

/**
 * The smallest value that a schema accepts, as a start for somebody who writes one: required members only.
 * `known` holds what a schema cannot know: the time now, a later time, an address, and under `members` the values
 * of members by name.
 */
export function skeleton(description, schema, known, name = 'value', depth = 0) {
  const resolved = resolve(description, schema)
  const inside = (inner, innerName, more = known) => skeleton(description, inner, more, innerName, depth + 1)
  if (depth > MAXIMUM_DEPTH) return null
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum) return resolved.enum.find((value) => value === known.members[name]) ?? resolved.enum[0]
  if (resolved.anyOf) return inside(resolved.anyOf[0], name)
  switch (resolved.type) {
    case 'object':
      return object(resolved, known, inside)
    case 'array':
      return entries(resolved, name, inside)
    case 'integer':
    case 'number':
      return resolved.minimum ?? 0
    case 'boolean':
      return false
    case 'string':
      return text(resolved, known, name)
    default:
      return null
  }
}

/** A constant holds further in too: the metadata of a ds_x body name ds_x. */
function object({ properties = {}, required = [] }, known, inside) {
  const constants = Object.entries(properties).flatMap(([member, { const: value }]) =>
    value === undefined ? [] : [[member, value]],
  )
  const more = { ...known, members: { ...known.members, ...Object.fromEntries(constants) } }
  return Object.fromEntries(required.map((member) => [member, inside(properties[member], member, more)]))
}

/** Where certain entries must be there, one of each; otherwise as few as are allowed, and one to show the form. */
function entries({ items, minItems = 1, allOf = [] }, name, inside) {
  if (!items) return []
  const entry = (schema) => inside(schema, name.replace(/s$/u, ''))
  const wanted = allOf.filter((part) => part.contains).map((part) => part.contains)
  if (wanted.length > 0) return wanted.map((contains) => ({ ...entry(items), ...entry(contains) }))
  return Array.from({ length: minItems }, () => entry(items))
}

function text({ format, pattern, 'x-values-in-use': inUse }, { now, later, address, members }, name) {
  if (inUse) return inUse[0]
  if (format === 'date-time') return name.startsWith('expires') ? later : now
  if (format === 'uri') return address
  if (pattern !== undefined) return matching(pattern)
  return members[name] ?? name.replaceAll('_', '-')
}

function matching(pattern) {
  const prefix = /^\^\(?(?<word>[a-z]+)[|_]/u.exec(pattern)?.groups.word
  const candidates = [...(prefix ? [`${prefix}_example`] : []), '1.0.0', 'AAAA', DIGEST, SIGNATURE]
  return candidates.find((candidate) => new RegExp(pattern, 'u').test(candidate)) ?? ''
}
