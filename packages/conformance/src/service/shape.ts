import { isObject } from '../wire/wire.ts'
import { Finding } from '../run/finding.ts'

/** What is wrong with a value; undefined if nothing is. */
type Rule = (value: unknown) => string | undefined
/** Required members; further ones are allowed, because an answer may grow. */
export type Shape = Readonly<Record<string, Rule>>

const rule =
  (holds: (value: unknown) => boolean, otherwise: string): Rule =>
  (value) =>
    holds(value) ? undefined : otherwise
const matching = (pattern: RegExp, otherwise: string) =>
  rule((value) => typeof value === 'string' && pattern.test(value), otherwise)

export const text = rule((value) => typeof value === 'string', 'is no string')
export const name = matching(/./u, 'is no string with content')
export const bool = rule((value) => typeof value === 'boolean', 'is neither true nor false')
export const integer = rule(Number.isSafeInteger, 'is no integer')
/** `^prefix_` and the tail that all identifiers share. */
export const id = (prefix: string) =>
  matching(
    new RegExp(`^${prefix}_[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`, 'u'),
    `is no id with the prefix ${prefix}_`,
  )
export const time = matching(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/u,
  'is no RFC 3339 time in UTC',
)
export const digest = matching(/^sha-256=:[A-Za-z0-9+/]{43}=:$/u, 'is no sha-256 digest')
export const uri = rule((value) => typeof value === 'string' && URL.canParse(value), 'is no absolute URI')
export const map = rule(
  (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
  'is no map to strings',
)
export const oneOf = (...values: readonly unknown[]) =>
  rule((value) => values.includes(value), `is none of ${values.join(', ')}`)
export const orNull =
  (inner: Rule): Rule =>
  (value) =>
    value === null ? undefined : inner(value)
export const optional =
  (inner: Rule): Rule =>
  (value) =>
    value === undefined ? undefined : inner(value)
export const list =
  (inner: Rule): Rule =>
  (value) =>
    Array.isArray(value) ? value.map(inner).find((fault) => fault !== undefined) : 'is no list'
export const members =
  (shape: Shape): Rule =>
  (value) =>
    isObject(value) ? faultOf(value, shape) : 'is no object'

function faultOf(value: Readonly<Record<string, unknown>>, shape: Shape): string | undefined {
  for (const [member, check] of Object.entries(shape)) {
    const fault = check(value[member])
    if (fault !== undefined) return `${member} ${value[member] === undefined ? 'is missing' : fault}`
  }
  return undefined
}

/** Throws a finding that names the first member that is wrong. */
export function requireShape(value: unknown, shape: Shape, what: string, ids?: readonly string[]): void {
  const fault = members(shape)(value)
  if (fault !== undefined) throw new Finding(`${what}: ${fault}`, ids)
}
