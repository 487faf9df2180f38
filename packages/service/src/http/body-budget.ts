import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'

/** Limits the request bodies that one listener holds in memory. */
export interface BodyBudget {
  /** Throws if nothing is left for this holder. */
  readonly open: (holder: string) => BodyHold
}

/** The share of one body. */
export interface BodyHold {
  /** Counts bytes that have arrived; throws if they exceed the budget. */
  readonly add: (bytes: number) => void
  readonly release: () => void
}

const RETRY_SECONDS = 1
const ORGANIZATION_SHARE = 1 / 8
/** Operators are few and trusted, and a publication of a skill is large. */
const OPERATOR_SHARE = 1 / 2

/** O-14: for the bodies of agents. The share of an organization fits at least one body. */
export function createAgentBodyBudget({ 'O-14': limits }: DeploymentProfile): BodyBudget {
  const { request_bytes, request_bytes_in_flight: total } = limits
  return createBodyBudget({ total, perHolder: Math.max(total * ORGANIZATION_SHARE, request_bytes) })
}

/** O-14: for the bodies of operators, so that agents cannot lock operators out. */
export function createOperatorBodyBudget({ 'O-14': limits }: DeploymentProfile): BodyBudget {
  const { operator_bytes_in_flight: total } = limits
  return createBodyBudget({ total, perHolder: total * OPERATOR_SHARE })
}

/** Only bytes that have arrived count: an announcement costs its sender nothing, so it must reserve nothing. */
export function createBodyBudget({ total, perHolder }: { total: number; perHolder: number }): BodyBudget {
  const held = new Map<string, number>()
  let used = 0

  function requireRoom(holder: string, bytes: number): void {
    if (used + bytes > total || (held.get(holder) ?? 0) + bytes > perHolder)
      throw new Problem('service_overloaded', { retry_after_seconds: RETRY_SECONDS })
  }

  return {
    open(holder) {
      // A holder without room for one byte is refused before its next body is read.
      requireRoom(holder, 1)
      let own = 0
      return {
        add(bytes) {
          requireRoom(holder, bytes)
          own += bytes
          used += bytes
          held.set(holder, (held.get(holder) ?? 0) + bytes)
        },
        release() {
          used -= own
          const remaining = (held.get(holder) ?? 0) - own
          own = 0
          if (remaining > 0) held.set(holder, remaining)
          else held.delete(holder)
        },
      }
    },
  }
}

const holds = new WeakMap<FastifyRequest, BodyHold>()
/** The framework reads no body of these. */
const BODYLESS_METHODS = new Set(['GET', 'HEAD'])

/** Admits the body of a request. Its bytes count until the response is closed. */
export function holdBody(
  budget: BodyBudget,
  holder: string,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (BODYLESS_METHODS.has(request.method)) return
  const hold = budget.open(holder)
  holds.set(request, hold)
  reply.raw.once('close', hold.release)
}

export function bodyHoldOf(request: FastifyRequest): BodyHold {
  const hold = holds.get(request)
  if (!hold) throw new Error('the body of this request was not admitted')
  return hold
}
