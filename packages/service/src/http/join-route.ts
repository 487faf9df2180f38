import { isInvitationSecret, type JsonObject } from '@agent-exchange/crypto'
import { agentId, extensions, validatorOf, type Failure } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { joinByInvitation, type JoinRequest } from '../features/organizations/join.ts'
import type { Context } from '../kernel/context.ts'
import { Problem } from '../kernel/problem.ts'
import { holdBody } from './body-budget.ts'
import { limitedPeer } from './connection-limit.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { createJoinLimit } from './rate-limit.ts'
import { parseBody } from './request-body.ts'
import { requireReadableEncoding } from './request-headers.ts'

/** Exchanges an invitation for a client. Needs no token: the secret of the invitation is the authorization. */
export function registerJoin(app: FastifyInstance, dependencies: AgentServerDependencies): void {
  const { db, context, bodies, connections } = dependencies
  const limit = createJoinLimit(context.profile, context.clock)
  app.route({
    method: extensions.joinByInvitation.method,
    url: extensions.joinByInvitation.path,
    bodyLimit: context.profile['O-14'].join_bytes,
    // Before the body is read, so that a flood costs little.
    onRequest: async (request, reply) => {
      limit(limitedPeer(request.raw.socket, connections))
      requireReadableEncoding(request.raw)
      holdBody(bodies, 'join', request, reply)
    },
    handler: async (request, reply) => {
      const joined = await joinByInvitation(db, readJoin(request, context), {
        now: context.clock.now(),
        newId: context.newId,
      })
      return reply.header('content-type', 'application/json').header('cache-control', 'no-store').send(joined)
    },
  })
}

function readJoin({ body }: FastifyRequest, { profile }: Context): JoinRequest {
  const { value } = parseBody(Buffer.isBuffer(body) ? body : Buffer.alloc(0), profile)
  const members =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
  const { invitation_secret: secret, agent_id, public_jwk } = members
  const failures: Failure[] = []
  if (!validatorOf(agentId).accepts(agent_id))
    failures.push(failure('/agent_id', 'Give an agent id, such as agent_planner.'))
  if (typeof public_jwk !== 'object' || public_jwk === null || Array.isArray(public_jwk))
    failures.push(failure('/public_jwk', 'Give the public JWK of the client.'))
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  // A malformed secret and an unknown one get the same answer.
  if (!isInvitationSecret(secret)) throw new Problem('invitation_refused')
  return { secret, agentId: agent_id as string, publicJwk: public_jwk as object }
}

function failure(pointer: string, message: string): Failure {
  return { pointer, rule: 'O-05', message }
}
