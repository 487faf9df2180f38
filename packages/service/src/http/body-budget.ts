import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'

/** Reserves memory for a request body, or throws if none is left. Returns the function that releases it. */
export type BodyBudget = (holder: string, bytes: number) => () => void

const RETRY_SECONDS = 1

/** O-14: limits the request bodies held in memory; one organization may use half of the total. */
export function createBodyBudget({
  'O-14': { request_bytes_in_flight: total },
}: DeploymentProfile): BodyBudget {
  const held = new Map<string, number>()
  let used = 0
  return (holder, bytes) => {
    const own = held.get(holder) ?? 0
    // A single body is always accepted: a skill publication may be larger than the limit for agents.
    const isExceeded = (used > 0 && used + bytes > total) || (own > 0 && own + bytes > total / 2)
    if (isExceeded) throw new Problem('service_overloaded', { retry_after_seconds: RETRY_SECONDS })
    used += bytes
    held.set(holder, own + bytes)
    return () => {
      used -= bytes
      const remaining = (held.get(holder) ?? 0) - bytes
      if (remaining > 0) held.set(holder, remaining)
      else held.delete(holder)
    }
  }
}

/** Reserves memory for the body of a request until its response is closed. */
export function holdBody(
  budget: BodyBudget,
  holder: string,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const bytes = announcedBytes(request)
  if (bytes > 0) reply.raw.once('close', budget(holder, bytes))
}

/** A chunked body may reach the limit. A Content-Length above the limit is refused before the body is read. */
function announcedBytes({ headers, routeOptions }: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  const limit = routeOptions.bodyLimit ?? Infinity
  if (length === undefined) return encoding === undefined ? 0 : limit
  return Math.min(Number(length), limit)
}
