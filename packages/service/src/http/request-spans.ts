import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequestSpan, Tracing } from '../kernel/tracing.ts'
import { addLogFields, logFieldsOf } from './request-log-fields.ts'

const SPAN = 'aexSpan'
type TracedRequest = FastifyRequest & { [SPAN]?: RequestSpan | undefined }

/** One span for each request, from its headers to the end of its response. Call before other hooks are added. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.decorateRequest(SPAN, undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers
    const route = request.routeOptions.url ?? 'unmatched'
    const given = typeof traceparent === 'string' ? traceparent : undefined
    const requestSpan = tracing.startRequest(request.method, route, given)
    ;(request as TracedRequest)[SPAN] = requestSpan
    if (requestSpan.traceparent !== undefined)
      addLogFields(request, { trace_id: requestSpan.span.spanContext().traceId })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const requestSpan = spanOf(request)
    if (requestSpan) tracing.endRequest(requestSpan, reply.statusCode, logFieldsOf(request).problem)
    done()
  })
}

/** Undefined if tracing is off. */
export function spanOf(request: FastifyRequest): RequestSpan | undefined {
  return (request as TracedRequest)[SPAN]
}
