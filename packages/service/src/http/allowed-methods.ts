import { operations, OPERATION_IDS, type OperationId } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'

/**
 * Refuses unknown routes before the body is read; the framework would check the media type first. A path that exists
 * with another method gets 405, all others 404.
 */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw notFound(request, reply)
  })
}

export function notFound(request: FastifyRequest, reply: FastifyReply): Problem {
  const path = pathOf(request)
  const found = OPERATION_IDS.map((id) => operations[id]).filter((operation) => matches(operation.path, path))
  // OpenAPI section 4.8.8.2: a concrete path takes precedence over a matching template.
  const concrete = found.filter((operation) => operation.path === path)
  const allowed = new Set((concrete.length > 0 ? concrete : found).map(({ method }) => method))
  if (allowed.size === 0) return new Problem('resource_not_found')
  reply.header('allow', [...allowed].join(', '))
  return new Problem('method_not_allowed')
}

/** Concrete paths that match an operation's template but do not support its method. */
export function shadowedPaths(id: OperationId): ReadonlySet<string> {
  const { path: template, method } = operations[id]
  const others = OPERATION_IDS.map((other) => operations[other])
  const matching = others.filter((other) => other.path !== template && matches(template, other.path))
  const paths = matching.map(({ path }) => path).filter((path) => !path.includes('{'))
  return new Set(
    paths.filter((path) => !others.some((other) => other.path === path && other.method === method)),
  )
}

export function requireUnshadowed(
  shadowed: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (shadowed.size > 0 && shadowed.has(pathOf(request))) throw notFound(request, reply)
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? ''
}

function matches(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')]
  return (
    expected.length === given.length &&
    expected.every((part, index) => part.startsWith('{') || part === given[index])
  )
}
