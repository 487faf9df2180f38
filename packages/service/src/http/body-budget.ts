import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'

/** Takes room for a body that is about to be read, or throws; what is returned gives the room back. */
export type BodyBudget = (holder: string, bytes: number) => () => void

const RETRY_SECONDS = 1

/** O-14: request bodies of all connections together, of which one organization may use half. */
export function createBodyBudget({
  'O-14': { request_bytes_in_flight: total },
}: DeploymentProfile): BodyBudget {
  const held = new Map<string, number>()
  let used = 0
  return (holder, bytes) => {
    const own = held.get(holder) ?? 0
    // The only body always has room: an operator's publication may be larger than what agents are limited to.
    const isTooMuch = (used > 0 && used + bytes > total) || (own > 0 && own + bytes > total / 2)
    if (isTooMuch) throw new Problem('service_overloaded', { retry_after_seconds: RETRY_SECONDS })
    used += bytes
    held.set(holder, own + bytes)
    return () => {
      used -= bytes
      const left = (held.get(holder) ?? 0) - bytes
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
    }
  }
}

/** Takes room for the body of a request until it has been answered: what was read is held until then. */
export function holdBody(
  budget: BodyBudget,
  holder: string,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const bytes = announcedBytes(request)
  if (bytes > 0) reply.raw.once('close', budget(holder, bytes))
}

/** A body in chunks may become as large as any; one that is announced as too large is refused unread. */
function announcedBytes({ headers, routeOptions }: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  const limit = routeOptions.bodyLimit ?? Infinity
  if (length === undefined) return encoding === undefined ? 0 : limit
  return Math.min(Number(length), limit)
}
