import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { canonicalize } from '@agent-exchange/crypto'
import { MEDIA_TYPE } from '@agent-exchange/protocol'
import { drainOnClose } from '@agent-exchange/server/drain-on-close'
import type { RequestSpans } from '@agent-exchange/server/tracing'
import type { Answered } from '../operations/gateway-metrics.ts'
import { LISTENER_LIMITS } from '../listeners/listener-limits.ts'
import { GatewayProblem } from '../problems.ts'
import type { CallLimits } from '../systems/call-limits.ts'
import type { IdentifyCaller } from '../systems/identify-caller.ts'
import { may, type Caller } from '../systems/verbs.ts'
import { KEEP_ALIVE_MS, MAXIMUM_BODY_BYTES, MAXIMUM_PARAMETER_CHARACTERS } from './api-limits.ts'
import { agentOf, type Answer, type ApiParts, type Call } from './call.ts'
import type { DelayRefusals } from './delay-refusals.ts'
import { handlers } from './handlers/index.ts'
import { readIdempotencyKey, runOnce } from './idempotent-requests.ts'
import { gatewayOpenApi } from './openapi.ts'
import {
  GATEWAY_OPERATION_IDS,
  gatewayOperations,
  type GatewayOperation,
  type GatewayOperationId,
} from './operations.ts'
import { correlationIdOf, problemOf, sendProblem } from './problem-replies.ts'
import { readBody, readPath, readQuery } from './request-input.ts'
import { onceClosed, onResponseEnd } from './response-end.ts'
import { traceRequests } from './trace-requests.ts'

export interface ApiServerSettings {
  readonly parts: ApiParts
  readonly identify: IdentifyCaller
  readonly limits: CallLimits
  readonly delayRefusal: DelayRefusals
  /** Where systems reach the gateway. */
  readonly publicUrl: string
  readonly log: { info(fields: object, message: string): void; error(fields: object, message: string): void }
  readonly onAnswer?: ((answered: Answered) => void) | undefined
  /** One span for each request. Undefined: tracing is off. */
  readonly tracing?: RequestSpans | undefined
  /** The pages for people, at every address that is not one of the API. */
  readonly desk?: { handle(request: IncomingMessage, response: ServerResponse): Promise<void> } | undefined
  /** Options of the listener: TLS and limits of connections. */
  readonly listener?: object
}

/** The listener of the company's systems: the operations and their description. */
export function createApiServer(settings: ApiServerSettings): FastifyInstance {
  const { log, publicUrl } = settings
  const replies = { publicUrl, log }
  const app = Fastify({
    bodyLimit: MAXIMUM_BODY_BYTES,
    requestTimeout: LISTENER_LIMITS.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAXIMUM_PARAMETER_CHARACTERS },
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply, replies),
    ...settings.listener,
  }) as FastifyInstance
  app.server.maxConnections = LISTENER_LIMITS.connections
  drainOnClose(app.server)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(MEDIA_TYPE.json, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler(async (error, request, reply) => {
    await settings.delayRefusal(error, request, reply)
    return sendProblem(error, request, reply, replies)
  })
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new GatewayProblem('resource_not_found'), request, reply, replies),
  )
  if (settings.tracing) traceRequests(app, settings.tracing)
  onResponseEnd(app, (request, { elapsedTime }, status) => {
    const milliseconds = Math.round(elapsedTime * 10) / 10
    // The path template: ids are in the record of accesses.
    const route = request.routeOptions.url ?? 'unknown'
    const { method } = request
    log.info({ method, route, status, milliseconds }, 'request')
    settings.onAnswer?.({ method, route, status, milliseconds: elapsedTime, problem: problemOf(request) })
  })
  const description = JSON.stringify(gatewayOpenApi(publicUrl))
  app.get('/openapi.json', (_request, reply) =>
    reply.header('content-type', MEDIA_TYPE.json).send(description),
  )
  for (const id of GATEWAY_OPERATION_IDS) registerOperation(app, id, settings)
  if (settings.desk) mountDesk(app, settings.desk)
  return app
}

/** Before Fastify reads a body: the desk reads forms itself, with limits of its own. */
function mountDesk(app: FastifyInstance, desk: NonNullable<ApiServerSettings['desk']>): void {
  app.route({
    method: ['GET', 'HEAD', 'POST'],
    url: '/*',
    onRequest: async (request, reply) => {
      if (request.url.startsWith('/api/')) return reply.callNotFound()
      reply.hijack()
      await desk.handle(request.raw, reply.raw)
    },
    handler: (_request, reply) => reply.callNotFound(),
  })
}

function registerOperation(app: FastifyInstance, id: GatewayOperationId, settings: ApiServerSettings): void {
  const operation: GatewayOperation = gatewayOperations[id]
  const callers = new WeakMap<FastifyRequest, Caller>()
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/gu, ':$1'),
    // Before the body is read.
    onRequest: async (request, reply) => {
      const caller = await settings.identify(request.headers.authorization)
      const refused = settings.limits.begin(caller.id)
      if (refused) throw new GatewayProblem('rate_limited', { retry_after_seconds: refused.waitSeconds })
      onceClosed(reply.raw, () => settings.limits.end(caller.id))
      if (!may(caller, operation.verb)) throw new GatewayProblem('not_permitted', { verb: operation.verb })
      callers.set(request, caller)
    },
    handler: async (request, reply) => {
      const caller = callers.get(request)
      if (!caller) throw new Error('a request without a caller')
      const call = readCall(operation, request, reply, { parts: settings.parts, caller })
      const answer = await answerOf(id, operation, call, request)
      reply.header('cache-control', 'no-store').header('x-correlation-id', correlationIdOf(request))
      for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value)
      return reply.code(answer.status).header('content-type', MEDIA_TYPE.json).send(answer.body)
    },
  })
}

type AnyCall = Call<GatewayOperationId>

function readCall(
  operation: GatewayOperation,
  request: FastifyRequest,
  reply: FastifyReply,
  known: Pick<AnyCall, 'parts' | 'caller'>,
): AnyCall {
  const gone = new AbortController()
  onceClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return {
    ...known,
    path: readPath(request.params as Record<string, string>),
    query: readQuery(operation, request.query as Record<string, unknown>),
    body: readBody(operation, request.body as Buffer | undefined),
    signal: gone.signal,
  } as AnyCall
}

async function answerOf(
  id: GatewayOperationId,
  operation: GatewayOperation,
  call: AnyCall,
  request: FastifyRequest,
): Promise<{ readonly status: number; readonly body: string; readonly headers?: Answer['headers'] }> {
  const run = async () => {
    const { status, body, headers } = await handlers[id](call as never)
    return {
      status: status ?? operation.success.status,
      body: JSON.stringify(body),
      ...(headers && { headers }),
    }
  }
  if (operation.idempotencyKey === 'none') return run()
  // Before a recorded answer is given: tokens of one client may permit different agents.
  if ('agent_id' in call.path) agentOf(call)
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  if (key === undefined) {
    if (operation.idempotencyKey === 'required')
      throw new GatewayProblem('header_missing', { header: 'Idempotency-Key' })
    return run()
  }
  const content = canonicalize({ id, path: call.path, body: (call.body ?? null) as never })
  return runOnce(call.parts.db, { caller: call.caller.id, key, content }, run)
}
