import type { IncomingMessage } from 'node:http'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { holdBody } from '../http/body-budget.ts'
import { bodyReceiver } from '../http/receive-body.ts'
import type { OperatorDependencies } from './dependencies.ts'

const MAXIMUM_FORM_BYTES = 65_536

/** A parser for the framework: reads an admitted form as text. */
export function formReceiver(profile: DeploymentProfile) {
  const receive = bodyReceiver(profile, MAXIMUM_FORM_BYTES)
  return async (request: FastifyRequest, payload: IncomingMessage): Promise<string> =>
    String(await receive(request, payload))
}

/** Before the form of somebody without a session is read. All of them share one part of the budget. */
export function admitAnonymousForm({ bodies }: Pick<OperatorDependencies, 'bodies'>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
    holdBody(bodies, 'anonymous', request, reply)
}
