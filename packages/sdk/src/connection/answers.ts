import { parseStrictJson, type JsonValue } from '@agent-exchange/crypto'
import { MEDIA_TYPE, problemDetails, validatorOf, type Named, type Operation } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { Answer } from './http-transport.ts'

/** Statuses of a proxy that cannot reach the exchange, or of a rate limit. */
const BUSY_STATUSES = new Set([429, 502, 503, 504])
const problem = validatorOf(problemDetails)

/** Parses the body of a success strictly and validates it against its operation's schema. Unknown members pass. */
export function readSuccess(answer: Answer, operation: Operation, now: Date): unknown {
  const { status, body }: { status: number; body: Named<unknown> } = operation.success
  if (answer.status !== status) throw refusal(answer, now)
  if (mediaTypeOf(answer) !== MEDIA_TYPE.json) throw unreadable(answer)
  const value = parsed(answer)
  const failures = validatorOf(body)(value)
  if (failures.length > 0) throw new ExchangeError('exchange_answer_unreadable', { failures })
  return value
}

/** The error for a response that is no success, and whether the same request may succeed later. */
export function refusal(answer: Answer, now: Date): ExchangeError {
  const { status } = answer
  const retryAfterSeconds = retryAfterOf(answer.headers.get('retry-after'), now)
  const details = { status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  const value = status >= 400 && mediaTypeOf(answer) === MEDIA_TYPE.problem ? parsed(answer) : undefined
  if (problem.accepts(value)) {
    return new ExchangeError(value.code === 'caller_suspended' ? 'caller_suspended' : 'exchange_refused', {
      what: `${value.title} (${value.code}).`,
      problem: value,
      retryable: value.retryable,
      details,
    })
  }
  if (!BUSY_STATUSES.has(status)) return unreadable(answer)
  return new ExchangeError('exchange_unreachable', {
    what: `Something in front of the exchange answers with ${status}.`,
    retryable: true,
    details,
  })
}

/** RFC 9110 section 10.2.3: seconds or a date. Any other value is ignored. */
export function retryAfterOf(field: string | null, now: Date): number | undefined {
  if (field === null) return undefined
  if (/^\d{1,9}$/.test(field)) return Number(field)
  const date = field.endsWith(' GMT') ? Date.parse(field) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1_000))
}

function parsed({ body }: Answer): JsonValue {
  try {
    return parseStrictJson(body, { at: 'answer' })
  } catch (cause) {
    throw new ExchangeError('exchange_answer_unreadable', { cause })
  }
}

function mediaTypeOf({ headers }: Answer): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

function unreadable({ status }: Answer): ExchangeError {
  return new ExchangeError('exchange_answer_unreadable', { details: { status } })
}
