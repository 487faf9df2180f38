import type { FastifyReply, FastifyRequest } from 'fastify'
import { holdBody } from '../http/body-budget.ts'
import { markAuthenticated } from '../http/connection-limit.ts'
import { requireReadableEncoding } from '../http/request-headers.ts'
import type { Operator } from '../kernel/operator-roles.ts'
import type { OperatorDependencies } from './dependencies.ts'

/** After authentication and before the body is read, for the API and for the console. */
export function admit(
  operator: Operator,
  request: FastifyRequest,
  reply: FastifyReply,
  { bodies }: Pick<OperatorDependencies, 'bodies'>,
): void {
  request.operator = operator
  markAuthenticated(request.raw.socket)
  requireReadableEncoding(request.raw)
  holdBody(bodies, `operator ${operator.name}`, request, reply)
}
