import { randomUUID } from 'node:crypto'
import { isUnavailable, loggableError } from '@agent-exchange/database'
import { MEDIA_TYPE } from '@agent-exchange/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { WANTED_SCOPES } from '../mcp/protected-resource.ts'
import { GatewayProblem, gatewayProblems, type GatewayProblemCode } from '../problems.ts'
import { MAXIMUM_BODY_BYTES } from './api-limits.ts'
import { asGatewayProblem } from './exchange-failures.ts'
import { problemType } from './openapi.ts'

const FRAMEWORK_PROBLEMS: Readonly<Record<string, GatewayProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media_type_unsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'resource_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'resource_not_found',
}
const DATABASE_RETRY_SECONDS = 1
const CORRELATION_ID = /^[\w.:-]{1,128}$/u

/** Maps an error to a problem. The text of an unexpected error is never sent. */
function toGatewayProblem(error: unknown): GatewayProblem {
  const known = asGatewayProblem(error)
  if (known instanceof GatewayProblem) return known
  const { code = '' } = error instanceof Error ? (error as Partial<FastifyError>) : {}
  const ofFramework = FRAMEWORK_PROBLEMS[code]
  if (ofFramework === 'payload_too_large')
    return new GatewayProblem(ofFramework, { maximum_bytes: MAXIMUM_BODY_BYTES }, { cause: error })
  if (ofFramework) return new GatewayProblem(ofFramework, {}, { cause: error })
  if (isUnavailable(error))
    return new GatewayProblem(
      'database_unavailable',
      { retry_after_seconds: DATABASE_RETRY_SECONDS },
      { cause: error },
    )
  return new GatewayProblem('internal_error', {}, { cause: error })
}

/** That of the request, or a new one, so that a report can name it. */
export function correlationIdOf({ headers }: FastifyRequest): string {
  const given = headers['x-correlation-id']
  return typeof given === 'string' && CORRELATION_ID.test(given) ? given : `corr_${randomUUID()}`
}

export interface ProblemReplies {
  readonly publicUrl: string
  readonly log: { error(fields: object, message: string): void }
  /** RFC 9728: where a client learns which provider issues tokens. */
  readonly resourceMetadata?: string
}

const sentProblems = new WeakMap<FastifyRequest, GatewayProblemCode>()

/** The problem that a request was answered with. */
export const problemOf = (request: FastifyRequest) => sentProblems.get(request)

/** Sends the problem document (RFC 9457) of a failure, and logs one that nobody expected. */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl, log, resourceMetadata }: ProblemReplies,
): FastifyReply {
  const problem = toGatewayProblem(error)
  sentProblems.set(request, problem.code)
  const correlationId = correlationIdOf(request)
  const { status, title, retryable, category } = gatewayProblems[problem.code]
  if (problem.code === 'internal_error')
    log.error({ err: loggableError(problem.cause ?? error), correlation_id: correlationId }, 'request failed')
  reply.code(status).header('content-type', MEDIA_TYPE.problem).header('cache-control', 'no-store')
  reply.header('x-correlation-id', correlationId)
  const challenge = challengeOf(problem, category, resourceMetadata)
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  const wait = problem.details['retry_after_seconds']
  if (typeof wait === 'number') reply.header('retry-after', String(wait))
  return reply.send(
    JSON.stringify({
      type: problemType(publicUrl, problem.code),
      title,
      status,
      code: problem.code,
      correlation_id: correlationId,
      retryable,
      details: problem.details,
    }),
  )
}

/** RFC 6750 section 3: a request without a token gets no error code. */
function challengeOf(
  { code, details }: GatewayProblem,
  category: string,
  resourceMetadata: string | undefined,
): string | undefined {
  const isScope = details['reason'] === 'insufficient_scope'
  if (category !== 'authentication' && !isScope) return undefined
  const parts = [
    ...(isScope ? ['error="insufficient_scope"', `scope="${WANTED_SCOPES}"`] : []),
    ...(code === 'access_token_invalid' ? ['error="invalid_token"'] : []),
    ...(resourceMetadata === undefined ? [] : [`resource_metadata="${resourceMetadata}"`]),
  ]
  return ['Bearer', parts.join(', ')].join(' ').trim()
}
