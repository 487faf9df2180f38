import type { ProblemCode } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What the log says of a request beside its method, status and duration. Never content, a token or a key. */
export interface RequestFacts {
  readonly route?: string
  readonly correlation_id?: string
  readonly organization_id?: string
  readonly problem?: ProblemCode
}

/** Kept on the request itself: a weak map of all requests would be gone through at every collection of garbage. */
const NOTED = 'aexFacts'
type Noting = FastifyRequest & { [NOTED]: RequestFacts | undefined }

/** Gives requests a place for facts. */
export function prepareFacts(app: FastifyInstance): void {
  app.decorateRequest(NOTED, undefined)
}

/** Adds what has just become known. */
export function noteFacts(request: FastifyRequest, facts: RequestFacts): void {
  const noting = request as Noting
  noting[NOTED] = { ...noting[NOTED], ...facts }
}

export function factsOf(request: FastifyRequest): RequestFacts & { readonly route: string } {
  // The template, not the address: a path may hold anything.
  return { route: request.routeOptions.url ?? 'unmatched', ...(request as Noting)[NOTED] }
}
