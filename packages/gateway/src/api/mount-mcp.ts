import type { Clock } from '@agent-exchange/server/clock'
import { answerRequests } from '@agent-exchange/mcp'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { skillOf, type HostedAgents } from '../agents/hosted-agent.ts'
import { agentOfToken } from '../mcp/agent-of-token.ts'
import { clientBudgets } from '../mcp/client-budgets.ts'
import { hostedMcpAgent, type ModelDependencies } from '../mcp/hosted-mcp-agent.ts'
import { MAXIMUM_EXCHANGE_MS, MAXIMUM_RUNNING_REQUESTS, REQUESTS_PER_MINUTE } from '../mcp/model-limits.ts'
import { MCP_PATH, METADATA_PATH, metadataUrl, protectedResource } from '../mcp/protected-resource.ts'
import { GatewayProblem } from '../problems.ts'
import type { TokenSource } from '../systems/access-tokens.ts'
import { createCallLimits } from '../systems/call-limits.ts'
import { identifyByToken } from '../systems/identify-caller.ts'
import { may, type Caller } from '../systems/verbs.ts'
import type { ApiServerSettings } from './api-server.ts'
import { createRefusalDelay } from './delay-refusals.ts'
import { sendProblem } from './problem-replies.ts'
import { onceClosed } from './response-end.ts'

export interface McpSettings extends Omit<ModelDependencies, 'now'> {
  readonly agents: HostedAgents
  readonly clock: Clock
  readonly log: ApiServerSettings['log']
  /** Whether a peer is a proxy that ends TLS. */
  readonly isProxy: (address: string | undefined) => boolean
  /** The company's identity provider, with the audience of tokens for models. */
  readonly tokens: { readonly source: TokenSource; readonly audience: string }
}

const VERSION = '0.1.0'
const NEXT_STEP = 'a person who may approve opens the desk of the gateway and registers a passkey'

/** MCP over Streamable HTTP for the agents of the gateway, by the authorization part of the MCP specification. */
export function mountMcp(app: FastifyInstance, settings: McpSettings): AsyncDisposable {
  const { agents, clock, publicUrl, log, tokens, isProxy } = settings
  const now = () => new Date(clock.now())
  const identify = identifyByToken({ ...tokens, kind: 'model', now })
  const limits = createCallLimits(() => clock.monotonicMilliseconds(), {
    callsPerMinute: REQUESTS_PER_MINUTE,
    maximumRunning: MAXIMUM_RUNNING_REQUESTS,
  })
  const budgetOf = clientBudgets(() => clock.monotonicMilliseconds())
  const requests = answerRequests()
  const delayRefusal = createRefusalDelay(() => clock.monotonicMilliseconds(), { isProxy })
  const callers = new WeakMap<FastifyRequest, Caller>()

  /** Before the body is read. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { origin, authorization } = request.headers
    if (origin !== undefined && origin !== new URL(publicUrl).origin)
      throw new GatewayProblem('not_permitted', { reason: 'Requests of other origins are refused.' })
    const caller = await identify(authorization)
    const refused = limits.begin(caller.id)
    if (refused) throw new GatewayProblem('rate_limited', { retry_after_seconds: refused.waitSeconds })
    onceClosed(reply.raw, () => limits.end(caller.id))
    if (caller.verbs.length === 0 || caller.agents.length === 0)
      throw new GatewayProblem('not_permitted', { reason: 'insufficient_scope' })
    callers.set(request, caller)
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = callers.get(request)
    if (!caller) throw new Error('a request without a caller')
    const { agent_id: named } = request.params as { readonly agent_id?: string }
    const hosted = agentOfToken(agents, caller, named)
    const session = {
      agent: hostedMcpAgent(hosted, caller, { ...settings, now }),
      version: VERSION,
      skill: skillOf(hosted),
      permits: (verb: Caller['verbs'][number]) => may(caller, verb),
      deskCommand: NEXT_STEP,
      approverCommand: NEXT_STEP,
      now,
      onCall: (report: object) =>
        log.info({ ...report, agent: hosted.agentId, client: caller.id }, 'MCP call'),
      ...(hosted.logPolicy && { logPolicy: hosted.logPolicy }),
    }
    reply.hijack()
    reply.raw.setHeader('cache-control', 'no-store')
    const end = setTimeout(() => reply.raw.destroy(), MAXIMUM_EXCHANGE_MS)
    reply.raw.once('close', () => clearTimeout(end))
    await requests
      .answer(request.raw, reply.raw, { session, budget: budgetOf(caller.id, hosted.agentId) })
      .catch(() => reply.raw.destroy())
  }

  const resource = protectedResource(publicUrl, tokens.source.issuer)
  for (const url of [METADATA_PATH, `${METADATA_PATH}${MCP_PATH}`])
    app.get(url, (_request, reply) => reply.send(resource))
  app.register((scope, _options, done) => {
    // The library reads the body, up to its own limit.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
    const resourceMetadata = metadataUrl(publicUrl)
    scope.setErrorHandler(async (error, request, reply) => {
      await delayRefusal(error, request, reply)
      return sendProblem(error, request, reply, { publicUrl, log, resourceMetadata })
    })
    for (const url of [MCP_PATH, `${MCP_PATH}/:agent_id`])
      scope.route({ method: ['GET', 'POST', 'DELETE'], url, onRequest: admit, handler: answer })
    done()
  })
  return requests
}
