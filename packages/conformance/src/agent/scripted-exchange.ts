import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject, parseObject } from '../wire/wire.ts'
import type { ScriptedStream } from './scripted-stream.ts'
import type { AgentRequest, Reply } from './agent-request.ts'
import type { ScriptedPackages } from './scripted-packages.ts'
import { schemaText } from './published-schemas.ts'
import type { TokenIssuer } from './token-issuer.ts'
import type { WebhookKeys } from './webhook-keys.ts'

export interface ScriptedParts {
  readonly tokens: TokenIssuer
  readonly stream: ScriptedStream
  readonly keys: WebhookKeys
  readonly packages: ScriptedPackages
  readonly organizationId: string
  readonly agentId: string
}

export interface ScriptedExchange extends AsyncDisposable {
  readonly baseUrl: string
  /** Requests of operations so far, oldest first. */
  readonly requests: AgentRequest[]
  /** The registration of the agent; undefined before it registered. */
  registration(): Readonly<Record<string, unknown>> | undefined
}

const MAXIMUM_BODY_BYTES = 4_194_304
const MAXIMUM_REQUESTS = 10_000
const DEFAULT_PAGE = 100

const problem = (status: number, code: string): Reply => ({
  status,
  body: {
    type: `https://problems.example/${code}`,
    title: code,
    status,
    code,
    correlation_id: 'corr_kit',
    retryable: status >= 500,
    details: {},
  },
})

/** The exchange that the agent under test connects to: as much of the API as an agent uses, with a script behind it. */
export async function startScriptedExchange(
  port: number,
  host: string,
  partsOf: (baseUrl: string) => Promise<ScriptedParts>,
): Promise<ScriptedExchange> {
  const requests: AgentRequest[] = []
  let registration: Record<string, unknown> | undefined
  const server = createServer((incoming, response) => void answer(incoming, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  const parts = await partsOf(baseUrl)
  const { tokens, stream, keys, packages } = parts

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(incoming)
    const { pathname, searchParams } = new URL(incoming.url ?? '/', baseUrl)
    const request: AgentRequest = {
      method: incoming.method ?? '',
      path: pathname,
      headers: Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: parseObject(text ?? ''),
    }
    const reply =
      text === undefined ? problem(413, 'body_too_large') : await route(request, text, searchParams)
    const isProblem = reply.status >= 400
    const media = isProblem ? 'application/problem+json' : 'application/json'
    response.writeHead(reply.status, { 'content-type': media, 'cache-control': 'no-store' })
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
  }

  async function route(request: AgentRequest, text: string, query: URLSearchParams): Promise<Reply> {
    const { method, path } = request
    const open = tokens.metadata(path) ?? schemaText(path)
    if (open !== undefined) return { status: 200, body: open }
    if (path === '/oauth/token') return tokens.issue(new URLSearchParams(text))
    if (path.startsWith('/v1/') && requests.length < MAXIMUM_REQUESTS) requests.push(request)
    if (!tokens.accepts(request.headers['authorization'])) return problem(401, 'authentication_required')
    return operation(method, path, request, query)
  }

  function operation(method: string, path: string, { body }: AgentRequest, query: URLSearchParams): Reply {
    const [, id = ''] = /^\/v1\/(?:directory\/)?\w[\w-]*\/([^/]+)/u.exec(path) ?? []
    if (method === 'POST' && path === '/v1/agents/register') {
      registration = body
      return { status: 201, body: registered() }
    }
    if (method === 'GET' && path === `/v1/agents/${parts.agentId}`)
      return registration ? { status: 200, body: registered() } : problem(404, 'resource_not_found')
    if (path === '/v1/directory/notification-keys') return { status: 200, body: keys.directory() }
    if (path === `/v1/directory/agents/${parts.agentId}/keys`) return { status: 200, body: ownDirectory() }
    if (method === 'GET' && path === '/v1/notifications') return page(query)
    if (method === 'POST' && /^\/v1\/notifications\/[^/]+\/ack$/u.test(path)) return acknowledged(id, body)
    if (method === 'POST' && path === '/v1/webhook-endpoints') return { status: 201, body: endpoint(body) }
    return packages.answer(method, path, body) ?? problem(404, 'resource_not_found')
  }

  const registered = () => ({
    ...registration,
    status: 'active',
    registered_at: new Date().toISOString(),
    certification_status: 'none',
    keys: registeredKeys(),
  })
  const registeredKeys = () => {
    const given: unknown = registration?.['keys']
    const stored = { status: 'active', registered_at: new Date().toISOString() }
    return (Array.isArray(given) ? given.filter(isObject) : []).map((key) => ({ ...key, ...stored }))
  }
  const ownDirectory = () => ({
    directory_version: '1',
    generated_at: new Date().toISOString(),
    organization_id: parts.organizationId,
    agent_id: parts.agentId,
    keys: registeredKeys(),
  })
  const endpoint = ({ url, event_types }: AgentRequest['body']) => ({
    url,
    event_types,
    webhook_endpoint_id: 'whe_kit',
    status: 'active',
    signing_key_id: keys.get('active').keyId,
  })

  function page(query: URLSearchParams): Reply {
    if (stream.refusals > 0) {
      stream.refusals -= 1
      return problem(503, 'service_unavailable')
    }
    const found = stream.page(query.get('after'), Number(query.get('limit') ?? DEFAULT_PAGE))
    return found ? { status: 200, body: found } : problem(400, 'cursor_invalid')
  }

  return {
    baseUrl,
    requests,
    registration: () => registration,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function acknowledged(notificationId: string, body: AgentRequest['body']): Reply {
  const { event_id, disposition, last_contiguous_sequence } = body
  const answered = { notification_id: notificationId, event_id, disposition, last_contiguous_sequence }
  return { status: 200, body: { ...answered, acknowledged_at: new Date().toISOString() } }
}

/** Undefined if it is larger than any right request. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAXIMUM_BODY_BYTES) chunks.push(chunk)
  }
  return size > MAXIMUM_BODY_BYTES ? undefined : Buffer.concat(chunks).toString('utf8')
}
