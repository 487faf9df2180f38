import { isDeepStrictEqual } from 'node:util'
import { type Answer, isObject } from '../wire/wire.ts'
import { Finding, NotJudged } from './finding.ts'

/** With `ids`, a finding is about these requirements of the check only. */
export function holds(condition: boolean, otherwise: string, ids?: readonly string[]): asserts condition {
  if (!condition) throw new Finding(otherwise, ids)
}

/** The call succeeded with this status. */
export function succeeded(
  answer: Answer,
  status: number,
  what = 'a valid request',
  ids?: readonly string[],
): Answer {
  requireNoLimit(answer, what)
  holds(answer.status === status, `${what}: ${describe(answer)} instead of ${status}`, ids)
  return answer
}

/** Whether the call succeeded with this status or was refused, where either is right. */
export function isTaken(answer: Answer, status: number, what: string, ids?: readonly string[]): boolean {
  if (answer.status === status) return true
  refused(answer, what, ids)
  return false
}

/** Statuses by which a service asks to come back later (RFC 9110, RFC 6585, RFC 8470). */
const LATER = new Set([408, 425, 429])

/**
 * The call was refused as the fault of the caller. Which status and code is an open point (O-11), but what says nothing
 * about the request proves nothing: a rate limit, or a 404 of an operation that may not exist.
 */
export function refused(answer: Answer, what: string, ids?: readonly string[]): Answer {
  requireNoLimit(answer, what)
  if (answer.status === 404 && answer.isKnownOperation === false)
    throw new NotJudged(`${what}: ${describe(answer)}, as an operation that does not exist`)
  holds(answer.status >= 400 && answer.status < 500, `${what}: ${describe(answer)} instead of a refusal`, ids)
  return answer
}

/** Refused for the caller, who may be known by a token. */
export const asksForToken = ({ status }: Pick<Answer, 'status'>) => status === 401 || status === 403

function requireNoLimit(answer: Answer, what: string): void {
  if (LATER.has(answer.status)) throw new NotJudged(`${what}: ${describe(answer)}, which limits the rate`)
}

/** Refused with a status and code that the specification shows. */
export function refusedWith(answer: Answer, status: number, code: string, what: string): Answer {
  holds(
    answer.status === status && answer.body['code'] === code,
    `${what}: ${describe(answer)} instead of ${status} ${code}`,
  )
  return answer
}

export function same(actual: unknown, expected: unknown, what: string, ids?: readonly string[]): void {
  holds(isDeepStrictEqual(actual, expected), `${what}: ${short(actual)} instead of ${short(expected)}`, ids)
}

export function describe({ request, status, body }: Answer): string {
  const path = new URL(request.url).pathname
  const code = typeof body['code'] === 'string' ? ` ${body['code']}` : ''
  return `${request.method} ${path} answered ${status}${code}`
}

/** A list in an answer. */
export function listOf(value: unknown, what: string): Readonly<Record<string, unknown>>[] {
  holds(Array.isArray(value) && value.every(isObject), `${what} is no list of objects`)
  return value
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
