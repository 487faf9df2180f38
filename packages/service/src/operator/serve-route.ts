import type { FastifyInstance, FastifyRequest } from 'fastify'
import { inTransaction } from '../db/transaction.ts'
import { appendToLog } from '../features/organizations/operator-log-store.ts'
import { Problem } from '../kernel/problem.ts'
import type { OperatorDependencies } from './dependencies.ts'
import type { ChangeRoute, OperatorCall, ReadRoute, Route } from './route.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/

export function serve(server: FastifyInstance, route: Route, dependencies: OperatorDependencies): void {
  server.route({
    method: route.method,
    url: route.path,
    ...(route.method === 'POST' && { bodyLimit: route.maximumBytes }),
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store').header('x-correlation-id', request.id)
      if (route.method === 'GET') return readWith(route, request, dependencies)
      reply.code(route.status)
      return changeWith(route, request, dependencies)
    },
  })
}

function readWith(route: ReadRoute, request: FastifyRequest, dependencies: OperatorDependencies) {
  return route.run(callOf(route, request, queryOf(request), dependencies), dependencies.db)
}

async function changeWith(route: ChangeRoute, request: FastifyRequest, dependencies: OperatorDependencies) {
  const call = callOf(route, request, request.body ?? {}, dependencies)
  return inTransaction(dependencies.db, async (tx) => {
    const change = await route.run(call, tx)
    if ('logged' in change) return change.answer
    const { answer, action, target, details = {} } = change
    const { reason } = call.input as { reason?: string }
    await appendToLog(tx, { actor: call.actor, action, target, reason, details, now: call.now })
    return answer
  })
}

function callOf(
  route: Route,
  request: FastifyRequest,
  input: unknown,
  { context, webhookKeys, rotatingKeys }: OperatorDependencies,
): OperatorCall<never> {
  const params = request.params as Record<string, string>
  // No identifier contains control characters, and PostgreSQL rejects NUL.
  if (Object.values(params).some((value) => CONTROL_CHARACTER.test(value))) {
    throw new Problem('resource_not_found')
  }
  const failures = route.validate(input)
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  return {
    actor: request.operatorName,
    params,
    input: input as never,
    now: context.clock.now(),
    context,
    webhookKeys,
    rotatingKeys,
  }
}

/** Converts `limit` to a number; the schema validates the rest. */
function queryOf({ query }: FastifyRequest): Record<string, unknown> {
  const members = { ...(query as Record<string, unknown>) }
  const { limit } = members
  if (typeof limit === 'string' && /^\d{1,9}$/.test(limit)) members['limit'] = Number(limit)
  return members
}
