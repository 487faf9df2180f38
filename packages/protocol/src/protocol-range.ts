import { PROTOCOL_VERSION } from './wire.ts'
import type { Failure } from './validation/failure.ts'

/**
 * The range expression of skill releases (O-06, ours): comparators over versions such as `svc/1.0`, all of which must
 * match, with alternatives separated by `||`. A version without an operator means exactly that version.
 */
const VERSION = /^([a-z][a-z0-9-]*)\/(\d{1,9})\.(\d{1,9})$/
const COMPARATOR = /^(>=|<=|>|<|=)?(\S+)$/

interface Version {
  readonly name: string
  readonly major: number
  readonly minor: number
}

/** Failures of a range; empty if it is valid. */
export function protocolRangeFailures(range: string, pointer: string): Failure[] {
  if (protocolRangeIncludes(range, PROTOCOL_VERSION) !== undefined) return []
  const message =
    'Write a version such as "svc/1.0", or comparators such as ">=svc/1.0 <svc/2.0", with "||" between alternatives.'
  return [{ pointer, rule: 'O-06', message }]
}

/** Whether the range includes the version; undefined if either is unreadable. */
export function protocolRangeIncludes(range: string, version: string): boolean | undefined {
  const wanted = parseVersion(version)
  if (!wanted) return undefined
  const alternatives = new Set(range.split('||').map((alternative) => includesAll(alternative, wanted)))
  return alternatives.has(undefined) ? undefined : alternatives.has(true)
}

function includesAll(comparators: string, version: Version): boolean | undefined {
  const parts = comparators.trim().split(/\s+/)
  const held = new Set(parts.map((part) => holds(part, version)))
  return held.has(undefined) ? undefined : !held.has(false)
}

function holds(comparator: string, version: Version): boolean | undefined {
  const [, operator = '=', text = ''] = COMPARATOR.exec(comparator) ?? []
  const bound = parseVersion(text)
  if (!bound) return undefined
  if (bound.name !== version.name) return false
  const order = version.major - bound.major || version.minor - bound.minor
  switch (operator) {
    case '>=':
      return order >= 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '<':
      return order < 0
    default:
      return order === 0
  }
}

function parseVersion(text: string): Version | undefined {
  const [, name, major, minor] = VERSION.exec(text) ?? []
  return name === undefined ? undefined : { name, major: Number(major), minor: Number(minor) }
}
