import { resolve } from './schema-facts.js'

/** A body may hold objects in objects, but not without end. */
const MAXIMUM_DEPTH = 16

const DIGEST = `sha-256=:${'A'.repeat(43)}=:`
const SIGNATURE = 'A'.repeat(86)

/**
 * The smallest value that a schema accepts, as a start for somebody who writes one: required members only.
 * `values` are the time now, a later time, and an address, which a schema cannot know.
 */
export function skeleton(description, schema, values, name = 'value', depth = 0) {
  const resolved = resolve(description, schema)
  const inside = (inner, innerName) => skeleton(description, inner, values, innerName, depth + 1)
  if (depth > MAXIMUM_DEPTH) return null
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum) return resolved.enum[0]
  if (resolved.anyOf) return inside(resolved.anyOf[0], name)
  switch (resolved.type) {
    case 'object':
      return Object.fromEntries(
        (resolved.required ?? []).map((member) => [member, inside(resolved.properties[member], member)]),
      )
    case 'array':
      return entries(resolved, inside)
    case 'integer':
    case 'number':
      return resolved.minimum ?? 0
    case 'boolean':
      return false
    case 'string':
      return text(resolved, values, name)
    default:
      return null
  }
}

/** Where certain entries must be there, one of each; otherwise as few as are allowed, and one to show the form. */
function entries({ items, minItems = 1, allOf = [] }, inside) {
  if (!items) return []
  const wanted = allOf.filter((part) => part.contains).map((part) => part.contains)
  if (wanted.length > 0)
    return wanted.map((contains) => ({ ...inside(items, 'entry'), ...inside(contains, 'entry') }))
  return Array.from({ length: minItems }, () => inside(items, 'entry'))
}

function text({ format, pattern, 'x-values-in-use': inUse }, { now, later, address }, name) {
  if (inUse) return inUse[0]
  if (format === 'date-time') return name.startsWith('expires') ? later : now
  if (format === 'uri') return address
  return pattern === undefined ? name.replaceAll('_', '-') : matching(pattern)
}

function matching(pattern) {
  const prefix = /^\^\(?(?<word>[a-z]+)[|_]/u.exec(pattern)?.groups.word
  const candidates = [...(prefix ? [`${prefix}_example`] : []), '1.0.0', 'AAAA', DIGEST, SIGNATURE]
  return candidates.find((candidate) => new RegExp(pattern, 'u').test(candidate)) ?? ''
}
