import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequestSpan, RequestSpans } from '@agent-exchange/server/tracing'
import { problemOf } from './problem-replies.ts'
import { onResponseEnd } from './response-end.ts'

/** One span for each request, from its headers to the end of its response. Call before other hooks are added. */
export function traceRequests(app: FastifyInstance, tracing: RequestSpans): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers
    const route = request.routeOptions.url ?? 'unmatched'
    const given = typeof traceparent === 'string' ? traceparent : undefined
    spans.set(request, tracing.startRequest(request.method, route, given))
    done()
  })
  onResponseEnd(app, (request, _reply, status) => {
    const span = spans.get(request)
    if (span) tracing.endRequest(span, status, problemOf(request))
  })
}
