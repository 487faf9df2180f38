import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { ProblemCode } from '@agent-exchange/protocol'
import type { QueueName } from './queue-name.ts'

const SERVER_ERROR = 500

/** The span of a request. */
export interface RequestSpan {
  readonly span: Span
  /** W3C Trace Context; undefined if the span is not sampled. */
  readonly traceparent: string | undefined
}

/** The result of an attempt to deliver a webhook. */
interface AttemptEnd {
  readonly outcome: string
  readonly status?: number | undefined
  readonly errorClass?: string | undefined
}

export type Tracing = ReturnType<typeof createTracing>

/**
 * Spans of requests, batches and deliveries. Attributes are numbers and values of closed lists: never ids of packages,
 * correlation ids, URLs or error messages, because callers choose their text. `tracestate` is ignored for that reason.
 *
 * Loaded only where tracing is on; other files import its types.
 */
export function createTracing(tracer: Tracer) {
  return {
    /** `route` is the template. An invalid `traceparent` begins a new trace (W3C Trace Context, section 3.2). */
    startRequest(method: string, route: string, traceparent: string | undefined): RequestSpan {
      const attributes = { 'http.request.method': method, 'http.route': route }
      const options = { kind: SpanKind.SERVER, attributes }
      const span = tracer.startSpan(`${method} ${route}`, options, contextOf(traceparent))
      return { span, traceparent: traceparentOf(span.spanContext()) }
    },

    endRequest({ span }: RequestSpan, status: number, problem: ProblemCode | undefined): void {
      span.setAttribute('http.response.status_code', status)
      if (problem !== undefined) span.setAttribute('error.type', problem)
      if (status >= SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },

    /**
     * A span for the transaction of a batch, in the trace of its first sampled request and with links from and to all
     * sampled ones. Undefined if no request is sampled.
     */
    startBatch(queue: QueueName, requests: readonly (RequestSpan | undefined)[]): Span | undefined {
      const sampled = requests.flatMap((each) => (each?.traceparent === undefined ? [] : each.span))
      const [first] = sampled
      if (!first) return undefined
      const links = sampled.map((span) => ({ context: span.spanContext() }))
      const attributes = { 'aex.queue': queue, 'aex.batch.size': requests.length }
      const batch = tracer.startSpan(
        `batch ${queue}`,
        { attributes, links },
        trace.setSpan(ROOT_CONTEXT, first),
      )
      const context = batch.spanContext()
      for (const span of sampled) span.addLink({ context })
      return batch
    },

    endBatch(batch: Span, hasFailed: boolean): void {
      if (hasFailed) batch.setStatus({ code: SpanStatusCode.ERROR })
      batch.end()
    },

    /** `traceparent` names the request that caused the notification. */
    startAttempt(traceparent: string | null | undefined, attempt: number): Span {
      const options = { kind: SpanKind.CLIENT, attributes: { 'aex.delivery.attempt': attempt } }
      return tracer.startSpan('webhook delivery', options, contextOf(traceparent ?? undefined))
    },

    /** Without a result, the request was not sent. */
    endAttempt(span: Span, end: AttemptEnd | undefined): void {
      span.setAttribute('aex.delivery.outcome', end?.outcome ?? 'not_sent')
      if (end?.status !== undefined) span.setAttribute('http.response.status_code', end.status)
      if (end?.errorClass !== undefined) span.setAttribute('error.type', end.errorClass)
      if (end && end.outcome !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

function contextOf(traceparent: string | undefined): Context {
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
