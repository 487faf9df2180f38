import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'

const SERVER_ERROR = 500

/** The span of a request. */
export interface RequestSpan {
  readonly span: Span
  /** W3C Trace Context; undefined if the span is not sampled. */
  readonly traceparent: string | undefined
}

export type RequestSpans = ReturnType<typeof createRequestSpans>

/**
 * Spans of requests. Attributes are numbers and values of closed lists: never ids of packages, correlation ids, URLs or
 * error messages, because callers choose their text. `tracestate` is ignored for that reason.
 */
export function createRequestSpans(tracer: Tracer) {
  return {
    /** `route` is the template. An invalid `traceparent` begins a new trace (W3C Trace Context, section 3.2). */
    startRequest(method: string, route: string, traceparent: string | undefined): RequestSpan {
      const attributes = { 'http.request.method': method, 'http.route': route }
      const options = { kind: SpanKind.SERVER, attributes }
      const span = tracer.startSpan(`${method} ${route}`, options, contextOf(traceparent))
      return { span, traceparent: traceparentOf(span.spanContext()) }
    },

    /** Work that no request began, such as a push. `name` is of a closed list; so is `error` of `end`. */
    startWork(name: string): { readonly end: (error?: string) => void } {
      const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL }, ROOT_CONTEXT)
      return {
        end(error) {
          if (error !== undefined) {
            span.setAttribute('error.type', error)
            span.setStatus({ code: SpanStatusCode.ERROR })
          }
          span.end()
        },
      }
    },

    /** `problem` is the code of the answer's problem document. */
    endRequest({ span }: RequestSpan, status: number, problem: string | undefined): void {
      span.setAttribute('http.response.status_code', status)
      if (problem !== undefined) span.setAttribute('error.type', problem)
      if (status >= SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

export function contextOf(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  if (!parent) return ROOT_CONTEXT
  const { traceId, spanId, traceFlags } = parent
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: traceFlags & TraceFlags.SAMPLED,
    isRemote: true,
  })
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`
}
