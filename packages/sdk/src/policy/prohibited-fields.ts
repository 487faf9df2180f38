import type { JsonValue } from '@agent-exchange/crypto'
import { pointerTo } from '@agent-exchange/protocol'

/** A member of a document: its pointer, and its path with and without list indexes. */
interface MemberPath {
  readonly pointer: string
  readonly whole: readonly string[]
  readonly names: readonly string[]
}

interface Matcher {
  /** The last step of every matching path; undefined for a wildcard. */
  readonly last: string | undefined
  readonly matches: (path: MemberPath) => boolean
}

/**
 * Finds members that a list of fields prohibits. A field is a plain name, which matches at any depth, a dotted path
 * (`facts.value.unit_price`), which matches the end of a path, or an RFC 6901 pointer, in which `*` matches one step.
 * Names are compared without case, spaces, `_` and `-`, so that `unit_price` also matches `unitPrice`.
 */
export function prohibitedMembers(document: JsonValue, fields: readonly string[]): string[] {
  const matchers = fields.flatMap(matchersOf)
  if (matchers.length === 0) return []
  // Indexed by last step, so that the cost is not fields times members.
  const byLast = Map.groupBy(matchers, ({ last }) => last)
  const isProhibited = (path: MemberPath) => {
    const ends = new Set([undefined, path.names.at(-1), path.whole.at(-1)])
    return [...ends].some((end) => byLast.get(end)?.some(({ matches }) => matches(path)))
  }
  return [...membersOf(document, { pointer: '', whole: [], names: [] })]
    .filter(isProhibited)
    .map(({ pointer }) => pointer)
}

/** An unreadable field might prohibit anything, so the caller must refuse it. */
export function isReadableField(field: string): boolean {
  return matchersOf(field).length > 0
}

function matchersOf(field: string): Matcher[] {
  if (field.startsWith('/')) return pointerMatchers(field)
  if (field.trim() === '') return []
  const whole = fold(field)
  const steps = field.split('.').map(fold)
  return [
    { last: whole, matches: ({ names }) => names.at(-1) === whole },
    { last: steps.at(-1), matches: (path) => endsWith(path.names, steps) || endsWith(path.whole, steps) },
  ]
}

/** RFC 6901 section 3: `~` must be followed by 0 or 1. */
function pointerMatchers(field: string): Matcher[] {
  if (field === '/' || /~(?![01])/.test(field)) return []
  const steps = field
    .slice(1)
    .split('/')
    .map((step) => fold(step.replaceAll('~1', '/').replaceAll('~0', '~')))
  const last = steps.at(-1)
  return [
    {
      last: last === '*' ? undefined : last,
      matches: ({ whole }) =>
        whole.length === steps.length && steps.every((step, index) => step === '*' || step === whole[index]),
    },
  ]
}

function endsWith(path: readonly string[], steps: readonly string[]): boolean {
  const start = path.length - steps.length
  return start >= 0 && steps.every((step, index) => step === path[start + index])
}

function* membersOf(value: JsonValue, path: MemberPath): Generator<MemberPath> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? name : fold(name)
    const here = {
      pointer: pointerTo(path.pointer, name),
      whole: [...path.whole, step],
      names: Array.isArray(value) ? path.names : [...path.names, step],
    }
    yield here
    yield* membersOf(inner, here)
  }
}

/** Normalizes how the words of a name are joined. */
function fold(name: string): string {
  const folded = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '')
  return folded === '' ? name : folded
}
