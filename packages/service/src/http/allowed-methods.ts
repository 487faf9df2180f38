import { operations, OPERATION_IDS, type OperationId } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'

/**
 * Answers what leads nowhere before its body is read: the framework would judge the media type first, and asks a QUERY
 * for one. A path that exists with another method says so; all others look alike.
 */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw notFound(request, reply)
  })
}

export function notFound(request: FastifyRequest, reply: FastifyReply): Problem {
  const path = pathOf(request)
  const found = OPERATION_IDS.map((id) => operations[id]).filter((operation) => matches(operation.path, path))
  // OpenAPI section 4.8.8.2: a concrete path goes before a template that fits it too.
  const concrete = found.filter((operation) => operation.path === path)
  const allowed = new Set((concrete.length > 0 ? concrete : found).map(({ method }) => method))
  if (allowed.size === 0) return new Problem('resource_not_found')
  reply.header('allow', [...allowed].join(', '))
  return new Problem('method_not_allowed')
}

/** Concrete paths that the template of an operation fits too, and that do not take its method. */
export function shadowedPaths(id: OperationId): ReadonlySet<string> {
  const { path: template, method } = operations[id]
  const others = OPERATION_IDS.map((other) => operations[other])
  const taken = others.filter((other) => other.path !== template && matches(template, other.path))
  const paths = taken.map(({ path }) => path).filter((path) => !path.includes('{'))
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
