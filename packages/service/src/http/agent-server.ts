import Fastify, { type FastifyInstance } from 'fastify'
import { problems } from '@agent-exchange/protocol'
import type { TlsConfig } from '@agent-exchange/server/settings'
import { loggableError } from '@agent-exchange/database'
import { drainOnClose } from '@agent-exchange/server/drain-on-close'
import { pathOf, RESOURCE_METADATA_PATH } from '@agent-exchange/server/issuer'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import type { Context } from '../kernel/context.ts'
import type { AuthorizationServer } from '../oauth/authorization-server.ts'
import { protectedResourceMetadata } from '../oauth/metadata.ts'
import { notFound, refuseUnknownRoutes } from './allowed-methods.ts'
import { registerArtifacts } from './artifact-routes.ts'
import { limitConnections, limitedPeer } from './connection-limit.ts'
import { registerContent } from './content-routes.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { registerJoin } from './join-route.ts'
import { handleEdgeCases } from './http-edge-cases.ts'
import { registerLog } from './log-routes.ts'
import { registerOperations } from './operation-routes.ts'
import { bodyReceiver } from './receive-body.ts'
import { createRefusalDelay } from './refusal-delay.ts'
import { answerUnparsedRequest, sendProblem, toProblem } from './problem-replies.ts'
import { logFieldsOf, addLogFields, prepareLogFields } from './request-log-fields.ts'
import { traceRequests } from './request-spans.ts'

const KEEP_ALIVE_MS = 72_000
/** Fits the longest identifier, percent-encoded. */
const MAXIMUM_PARAMETER_CHARACTERS = 3_072

/** The agent API: 21 operations, downloads, tokens and discovery. */
export function createAgentServer(dependencies: AgentServerDependencies): FastifyInstance {
  const { context, authorizationServer, log } = dependencies
  const app = Fastify({
    bodyLimit: context.profile['O-14'].request_bytes,
    requestTimeout: context.profile['O-14'].request_seconds * 1_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Fastify's own 503 has no problem document. Requests that arrive while draining are served.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAXIMUM_PARAMETER_CHARACTERS },
    clientErrorHandler: (error, socket) => answerUnparsedRequest(error, socket, context),
    frameworkErrors: (error, request, reply) => {
      void sendProblem(toProblem(error), request, reply, context)
    },
    ...serverOptions(dependencies.tls, context.profile['O-14'].header_bytes),
  }) as FastifyInstance

  limitConnections(app.server, dependencies.connections)
  drainOnClose(app.server)
  prepareLogFields(app)
  if (dependencies.tracing) traceRequests(app, dependencies.tracing)
  // Bodies stay bytes: signatures are verified over, and content is stored as, the bytes received.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', bodyReceiver(context.profile))
  const delayRefusal = createRefusalDelay(context.profile, context.clock)
  app.setErrorHandler(async (error, request, reply) => {
    const problem = toProblem(error)
    const address = limitedPeer(request.raw.socket, dependencies.connections)
    if (problems[problem.code].category === 'authentication' && address !== undefined) {
      const staysOpen = await delayRefusal(address)
      if (!staysOpen) reply.header('connection', 'close')
    }
    const answer = sendProblem(problem, request, reply, context)
    if (problem.code === 'internal_error')
      log.error({ err: loggableError(problem.cause ?? error), ...logFieldsOf(request) }, 'request failed')
    return answer
  })
  app.setNotFoundHandler((request, reply) => sendProblem(notFound(request, reply), request, reply, context))
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request
    const fields = logFieldsOf(request)
    const { statusCode: status, elapsedTime: milliseconds } = reply
    dependencies.onAnswer({ route: fields.route, method, status, milliseconds })
    log.info({ method, status, milliseconds: Math.round(milliseconds * 10) / 10, ...fields }, 'request')
    done()
  })
  handleEdgeCases(app, context)
  announceDeprecation(app, context)

  // RFC 9728 section 3.1: the path of the resource is appended to the well-known path.
  for (const url of new Set([RESOURCE_METADATA_PATH, RESOURCE_METADATA_PATH + pathOf(context.publicUrl)])) {
    app.get(url, (_request, reply) =>
      reply.send(protectedResourceMetadata({ publicUrl: context.publicUrl, issuer: context.externalIssuer })),
    )
  }
  if (authorizationServer) mountAuthorizationServer(app, authorizationServer, dependencies)
  refuseUnknownRoutes(app)
  registerOperations(app, dependencies)
  registerContent(app, dependencies)
  registerArtifacts(app, dependencies, delayRefusal)
  registerLog(app, dependencies)
  // Clients of an external issuer are registered there, so invitations have no effect.
  if (authorizationServer) registerJoin(app, dependencies)
  return app
}

/** With a client CA, client certificates are requested but optional. AUTH-02 is enforced for each request. */
function serverOptions(tls: TlsConfig | undefined, maxHeaderSize: number) {
  const { connectionTimeout, http, https } = listenerOptions(tls)
  if (!https) return { connectionTimeout, http: { ...http, maxHeaderSize } }
  const ca = tls?.clientCa
  const client = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false }
  return { connectionTimeout, https: { ...https, maxHeaderSize, ...client } }
}

/** The authorization server parses its request bodies itself, so the framework must not read them. */
function mountAuthorizationServer(
  app: FastifyInstance,
  server: AuthorizationServer,
  { connections, concurrency }: AgentServerDependencies,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!server.handles(request.url.split('?', 1)[0] ?? '')) {
      done()
      return
    }
    addLogFields(request, { route: 'authorization server' })
    const serve = async () => {
      reply.hijack()
      await server.handle(request.raw, reply.raw).catch(() => reply.raw.destroy())
    }
    const address = limitedPeer(request.raw.socket, connections)
    // O-13: it verifies a signature and signs a token for callers that are not authenticated yet.
    if (address === undefined) void serve()
    else concurrency.tokens(address, serve).catch(done)
  })
}

/** O-16: Deprecation (RFC 9745) and Sunset (RFC 8594) headers, if the deployment sets them. */
function announceDeprecation(app: FastifyInstance, { profile }: Context): void {
  const { deprecated_at, sunset_at } = profile['O-16']
  if (deprecated_at === null && sunset_at === null) return
  app.addHook('onSend', async (_request, reply) => {
    if (deprecated_at !== null)
      reply.header('deprecation', `@${Math.floor(Date.parse(deprecated_at) / 1_000)}`)
    if (sunset_at !== null) reply.header('sunset', new Date(sunset_at).toUTCString())
  })
}
