import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MEDIA_TYPE, problems } from '@agent-exchange/protocol'
import { CryptoError } from '@agent-exchange/crypto'
import { isUnavailable } from '@agent-exchange/database'
import { isModuleAway } from '@agent-exchange/pkcs11'
import type { Context } from '../kernel/context.ts'
import { databaseUnavailable, Problem, signingUnavailable } from '../kernel/problem.ts'
import { problemBase, problemDocument } from '../kernel/problem-document.ts'
import type { OperatorDependencies } from './dependencies.ts'

/** Answers every failure with a problem document and nothing else. */
export function answerFailures(server: FastifyInstance, { context, log }: OperatorDependencies): void {
  server.setErrorHandler((error, request, reply) => {
    const problem = asProblem(error)
    logFailure(log, problem, error, request)
    return sendProblem(reply, problem, context, request.id)
  })
  server.setNotFoundHandler((request, reply) =>
    sendProblem(reply, new Problem('resource_not_found'), context, request.id),
  )
}

export function sendProblem(
  reply: FastifyReply,
  problem: Problem,
  context: Context,
  correlationId: string,
): FastifyReply {
  const { status, category } = problems[problem.code]
  // RFC 6750 section 3: a 401 response names the authentication scheme.
  if (category === 'authentication') reply.header('www-authenticate', 'Bearer realm="operator"')
  const wait = problem.details['retry_after_seconds']
  if (typeof wait === 'number') reply.header('retry-after', String(wait))
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('x-correlation-id', correlationId)
    .type(MEDIA_TYPE.problem)
    .send(JSON.stringify(problemDocument(problem, problemBase(context), correlationId)))
}

/** Only failures of ours are logged: a refused request is not one. */
export function logFailure(
  log: OperatorDependencies['log'],
  problem: Problem,
  error: unknown,
  request: FastifyRequest,
): void {
  if (problems[problem.code].category === 'availability')
    log.error(traceOf(error, request), 'operator request failed')
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof CryptoError) return new Problem('malformed_request', { reason: error.code })
  if (isUnavailable(error)) return databaseUnavailable(error)
  if (isModuleAway(error)) return signingUnavailable(error)
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Problem('media_type_unsupported')
  const isClientError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return new Problem(isClientError ? 'malformed_request' : 'internal_error')
}

/** Log fields of a failure. The `detail` of a database error is left out, because it quotes values. */
function traceOf(error: unknown, request: FastifyRequest): object {
  const known = error instanceof Error ? error : new Error('a value that is not an Error was thrown')
  return {
    correlation_id: request.id,
    route: request.routeOptions.url,
    code: 'code' in known ? known.code : undefined,
    stack: known.stack,
  }
}
