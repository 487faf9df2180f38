import type { ProblemCode } from '@agent-exchange/protocol'
import type { FastifyRequest } from 'fastify'

/** What the log says of a request beside its method, status and duration. Never content, a token or a key. */
export interface RequestFacts {
  readonly route?: string
  readonly correlation_id?: string
  readonly organization_id?: string
  readonly problem?: ProblemCode
}

const noted = new WeakMap<FastifyRequest, RequestFacts>()

/** Adds what has just become known. */
export function noteFacts(request: FastifyRequest, facts: RequestFacts): void {
  noted.set(request, { ...noted.get(request), ...facts })
}

export function factsOf(request: FastifyRequest): RequestFacts & { readonly route: string } {
  // The template, not the address: a path may hold anything.
  return { route: request.routeOptions.url ?? 'unmatched', ...noted.get(request) }
}
