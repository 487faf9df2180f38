import type { Socket } from 'node:net'
import { MEDIA_TYPE, problems, type ProblemCode } from '@agent-exchange/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isUnavailable } from '@agent-exchange/database'
import { isModuleAway } from '@agent-exchange/pkcs11'
import { bearerChallenge } from '../oauth/challenge.ts'
import type { Context } from '../kernel/context.ts'
import { problemBase, problemDocument } from '../kernel/problem-document.ts'
import { databaseUnavailable, Problem, signingUnavailable } from '../kernel/problem.ts'
import { endSocket, isHandshakeFailure } from './end-socket.ts'
import { addLogFields } from './request-log-fields.ts'
import { correlationIdOf } from './request-headers.ts'

/** Problem codes for the framework's own errors. */
const FRAMEWORK_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media_type_unsupported',
  FST_ERR_BAD_URL: 'resource_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'resource_not_found',
}

/** Maps an error to a problem. The text of an unexpected error is never sent. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code = '' } = error instanceof Error ? (error as Partial<FastifyError>) : {}
  const known = FRAMEWORK_PROBLEMS[code]
  if (known) return new Problem(known, {}, { cause: error })
  // Safe to retry: either nothing was committed, or the retry gets the recorded response.
  if (isUnavailable(error)) return databaseUnavailable(error)
  if (isModuleAway(error)) return signingUnavailable(error)
  return new Problem('internal_error', {}, { cause: error })
}

/** ERR-01: sends the problem document of a failure. */
export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  context: Context,
): FastifyReply {
  const correlationId = correlationIdOf(request.raw, context.profile) ?? context.newId('corr')
  addLogFields(request, { correlation_id: correlationId, problem: problem.code })
  const { status, category } = problems[problem.code]
  reply.code(status).header('content-type', MEDIA_TYPE.problem).header('cache-control', 'no-store')
  reply.header('x-correlation-id', correlationId)
  if (category === 'authentication')
    reply.header('www-authenticate', bearerChallenge(problem.code, context.publicUrl))
  const wait = problem.details['retry_after_seconds']
  if (typeof wait === 'number') reply.header('retry-after', String(wait))
  return reply.send(JSON.stringify(problemDocument(problem, problemBase(context), correlationId)))
}

const CLIENT_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'header_invalid',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Answers input that Node cannot parse as a request, with a problem document on the raw socket. */
export function answerUnparsedRequest(error: NodeJS.ErrnoException, socket: Socket, context: Context): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isHandshakeFailure(error)) {
    socket.destroy()
    return
  }
  const problem = new Problem(CLIENT_PROBLEMS[error.code ?? ''] ?? 'malformed_request')
  const document = problemDocument(problem, problemBase(context), context.newId('corr'))
  const body = JSON.stringify(document)
  endSocket(
    socket,
    [
      `HTTP/1.1 ${document.status} ${document.status === 408 ? 'Request Timeout' : 'Bad Request'}`,
      `Content-Type: ${MEDIA_TYPE.problem}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
