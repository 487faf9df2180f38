import { Type, type Static } from 'typebox'
import { PROBLEM_CODES } from './problems.ts'
import { inUse, ours as fills } from './schema/annotations.ts'
import { define } from './schema/define.ts'

export const problemDetails = define(
  'Problem',
  Type.Object({
    type: Type.String({ format: 'uri', description: 'URL of a page that explains the problem' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.String({ ...fills('O-11'), ...inUse(...PROBLEM_CODES) }),
    correlation_id: Type.String(),
    retryable: Type.Boolean(),
    details: Type.Object({}, { additionalProperties: true }),
  }),
)

export type ProblemDetails = Static<typeof problemDetails>
