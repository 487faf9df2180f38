import { problemDetails } from '../problem-details.ts'
import { PROBLEM_CODES, problems, type ProblemCode } from '../problems.ts'
import { ours } from '../schema/annotations.ts'
import { nameOf, type JsonObject } from '../schema/define.ts'
import { MEDIA_TYPE } from '../wire.ts'
import { problemExample } from './examples/problems.ts'
import { reference } from './openapi-schemas.ts'

/** Problems whose answer carries Retry-After. */
const WAITS: ReadonlySet<ProblemCode> = new Set([
  'rate_limited',
  'service_overloaded',
  'database_unavailable',
  'signing_unavailable',
])

export function problemResponse(codes: readonly ProblemCode[]): JsonObject {
  const isOurs = codes.some((code) => problems[code].basis === 'profile')
  const waits = codes.some((code) => WAITS.has(code))
  const seconds = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 } }
  const narrowed = { type: 'object', properties: { code: { type: 'string', enum: [...codes] } } }
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
    ...(isOurs && ours('O-11')),
    ...(waits && { headers: { 'Retry-After': seconds } }),
    content: {
      [MEDIA_TYPE.problem]: {
        schema: { allOf: [reference(nameOf(problemDetails)), narrowed] },
        examples: Object.fromEntries(codes.map((code) => [code, reference(code, 'examples')])),
      },
    },
  }
}

/** One example of each of these problems; `base` is the base of problem types. */
export function problemExamples(base: string, answered: readonly ProblemCode[]): JsonObject {
  return Object.fromEntries(
    PROBLEM_CODES.filter((code) => answered.includes(code)).map((code) => [
      code,
      { summary: problems[code].title, value: problemExample(code, base) as unknown as JsonObject },
    ]),
  )
}
