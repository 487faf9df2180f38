import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { parseStrictJson } from '@agent-exchange/crypto'
import { MEDIA_TYPE, type DeploymentProfile } from '@agent-exchange/protocol'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { drainOnClose } from '@agent-exchange/server/drain-on-close'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import { limitConnections } from '../http/connection-limit.ts'
import { endSocket, isHandshakeFailure } from '../http/end-socket.ts'
import { requireSingleHost } from '../http/http-edge-cases.ts'
import { bodyReceiver } from '../http/receive-body.ts'
import type { Operator } from '../kernel/operator-roles.ts'
import { Problem } from '../kernel/problem.ts'
import { admit } from './admit.ts'
import type { OperatorDependencies } from './dependencies.ts'
import { answerFailures, sendProblem } from './failures.ts'
import { health } from './health.ts'
import { authenticateOperator } from './operator-token.ts'
import { serve } from './serve-route.ts'
import { routes } from './routes/index.ts'

export const OPERATOR_BASE_PATH = '/operator/v1'

/** Fits identifiers of any form, percent-encoded. */
const MAXIMUM_PARAMETER_CHARACTERS = 4_096
const REQUEST_TIMEOUT_MS = 60_000
const KEEP_ALIVE_MS = 10_000
const CORRELATION_ID = /^[\x21-\x7e]{1,256}$/

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before authentication. */
    operator: Operator | null
  }
}

/** The operator API with health and metrics. It never shares the listener of the agent API. */
export function createOperatorServer(dependencies: OperatorDependencies): FastifyInstance {
  const { context, db } = dependencies
  const { connectionTimeout, http, https } = listenerOptions(dependencies.tls)
  // Typed as the server without TLS, because both have the same methods and hooks.
  const server = fastify({
    connectionTimeout,
    ...(https ? { https } : { http }),
    routerOptions: { maxParamLength: MAXIMUM_PARAMETER_CHARACTERS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    genReqId: ({ headers }) => correlationIdOf(headers['x-correlation-id']) ?? context.newId('corr'),
    frameworkErrors: (_error, request, reply) =>
      void sendProblem(reply, new Problem('malformed_request'), context, request.id),
    clientErrorHandler: refuseUnreadable,
  }) as unknown as FastifyInstance
  limitConnections(server.server, dependencies.connections)
  drainOnClose(server.server)
  server.decorateRequest('operator', null)
  answerFailures(server, dependencies)
  requireSingleHost(server)
  refuseUnknownRoutes(server)
  readJsonOnly(server, context.profile)
  health(server, dependencies)
  server.register(
    (api, _options, done) => {
      // Before the body is read, so that an unauthenticated caller cannot make us parse one.
      api.addHook('onRequest', async (request, reply) => {
        const operator = await authenticateOperator(db, request.headers.authorization)
        admit(operator, request, reply, dependencies)
      })
      for (const route of routes) serve(api, route, dependencies)
      done()
    },
    { prefix: OPERATOR_BASE_PATH },
  )
  return server
}

/** Before a body is read: it was not admitted. */
function refuseUnknownRoutes(server: FastifyInstance): void {
  server.addHook('onRequest', async ({ is404 }) => {
    if (is404) throw new Problem('resource_not_found')
  })
}

function readJsonOnly(server: FastifyInstance, profile: DeploymentProfile): void {
  const receive = bodyReceiver(profile)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(MEDIA_TYPE.json, async (request: FastifyRequest, payload: IncomingMessage) =>
    parseStrictJson(await receive(request, payload), { maxDepth: profile['O-14'].json_depth }),
  )
}

function correlationIdOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && CORRELATION_ID.test(header) ? header : undefined
}

/** Answers input that Node cannot parse as HTTP; it never reaches a handler. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writable && !isHandshakeFailure(error))
    endSocket(socket, 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  else socket.destroy()
}
