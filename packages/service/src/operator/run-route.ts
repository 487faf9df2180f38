import { inTransaction } from '@agent-exchange/database'
import { appendToLog } from '../features/operators/operator-log-store.ts'
import { requireRole, type Operator } from '../kernel/operator-roles.ts'
import { Problem } from '../kernel/problem.ts'
import type { OperatorDependencies } from './dependencies.ts'
import type { ChangeRoute, OperatorCall, ReadRoute } from './route.ts'

export interface RouteRequest {
  readonly operator: Operator
  readonly params: Readonly<Record<string, string>>
  /** Query or body, as it arrived. */
  readonly input: unknown
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/

/** The only way to run a route, for HTTP and for the console: role, parameters, input, then the work. */
export async function runRoute<Input, Answer extends object>(
  route: ReadRoute<Input, Answer> | ChangeRoute<Input, Answer>,
  request: RouteRequest,
  dependencies: OperatorDependencies,
): Promise<Answer> {
  requireRole(request.operator, route.role)
  const call = callOf<Input>(route, request, dependencies)
  if (route.method === 'GET') return route.run(call, dependencies.db)
  return inTransaction(dependencies.db, async (tx) => {
    const change = await route.run(call, tx)
    if ('logged' in change) return change.answer
    const { answer, action, target, details = {} } = change
    const { reason } = call.input as { reason?: string }
    await appendToLog(tx, { actor: call.actor, action, target, reason, details, now: call.now })
    return answer
  })
}

function callOf<Input>(
  { validate }: Pick<ReadRoute, 'validate'>,
  { operator, params, input }: RouteRequest,
  { context, webhookKeys, rotatingKeys, masterKeys, settings }: OperatorDependencies,
): OperatorCall<Input> {
  // No identifier contains control characters, and PostgreSQL rejects NUL.
  if (Object.values(params).some((value) => CONTROL_CHARACTER.test(value))) {
    throw new Problem('resource_not_found')
  }
  const failures = validate(input)
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  return {
    actor: operator.name,
    operator,
    params,
    input: input as Input,
    now: context.clock.now(),
    context,
    webhookKeys,
    rotatingKeys,
    masterKeys,
    settings,
  }
}
