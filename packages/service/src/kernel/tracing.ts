import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Span, Tracer } from '@opentelemetry/api'
import type { ProblemCode } from '@agent-exchange/protocol'
import { contextOf, createRequestSpans, type RequestSpan } from '@agent-exchange/server/tracing'
import type { QueueName } from './queue-name.ts'

export type { RequestSpan }

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
  const requests = createRequestSpans(tracer)
  return {
    startRequest: requests.startRequest,

    endRequest: (span: RequestSpan, status: number, problem: ProblemCode | undefined) =>
      requests.endRequest(span, status, problem),

    /**
     * A span for the transaction of a batch, in the trace of its first sampled request and with links from and to all
     * sampled ones. Undefined if no request is sampled.
     */
    startBatch(queue: QueueName, batched: readonly (RequestSpan | undefined)[]): Span | undefined {
      const sampled = batched.flatMap((each) => (each?.traceparent === undefined ? [] : each.span))
      const [first] = sampled
      if (!first) return undefined
      const links = sampled.map((span) => ({ context: span.spanContext() }))
      const attributes = { 'aex.queue': queue, 'aex.batch.size': batched.length }
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
