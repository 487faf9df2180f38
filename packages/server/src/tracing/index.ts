/** Spans for a collector of traces (OTLP). Loaded only where tracing is on. */
export { openTracer, type TracingTools } from './open-tracer.ts'
export { contextOf, createRequestSpans, type RequestSpan, type RequestSpans } from './request-spans.ts'
