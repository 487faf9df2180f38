import type { ProblemCode } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Log fields of a request in addition to method, status and duration. Never content, a token or a key. */
export interface RequestLogFields {
  readonly route?: string
  readonly correlation_id?: string
  readonly organization_id?: string
  readonly problem?: ProblemCode
  /** Of a request whose trace is recorded. */
  readonly trace_id?: string
}

/** A property of the request instead of a WeakMap, which would slow down garbage collection. */
const LOG_FIELDS = 'aexLogFields'
type LoggedRequest = FastifyRequest & { [LOG_FIELDS]: RequestLogFields | undefined }

/** Declares the property, so that all requests share one hidden class. */
export function prepareLogFields(app: FastifyInstance): void {
  app.decorateRequest(LOG_FIELDS, undefined)
}

export function addLogFields(request: FastifyRequest, fields: RequestLogFields): void {
  const logged = request as LoggedRequest
  logged[LOG_FIELDS] = { ...logged[LOG_FIELDS], ...fields }
}

export function logFieldsOf(request: FastifyRequest): RequestLogFields & { readonly route: string } {
  // The route template instead of the path, which may contain anything.
  return { route: request.routeOptions.url ?? 'unmatched', ...(request as LoggedRequest)[LOG_FIELDS] }
}
