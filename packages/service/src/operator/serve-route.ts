import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'
import type { OperatorDependencies } from './dependencies.ts'
import type { Route } from './route.ts'
import { runRoute } from './run-route.ts'

export function serve(server: FastifyInstance, route: Route, dependencies: OperatorDependencies): void {
  server.route({
    method: route.method,
    url: route.path,
    ...(route.method === 'POST' && { bodyLimit: route.maximumBytes }),
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store').header('x-correlation-id', request.id)
      if (route.method === 'POST') reply.code(route.status)
      const { operator } = request
      if (operator === null) throw new Problem('access_token_missing')
      const params = request.params as Record<string, string>
      const input = route.method === 'GET' ? queryOf(request) : (request.body ?? {})
      return runRoute(route, { operator, params, input }, dependencies)
    },
  })
}

/** Converts `limit` to a number; the schema validates the rest. */
function queryOf({ query }: FastifyRequest): Record<string, unknown> {
  const members = { ...(query as Record<string, unknown>) }
  const { limit } = members
  if (typeof limit === 'string' && /^\d{1,9}$/.test(limit)) members['limit'] = Number(limit)
  return members
}
