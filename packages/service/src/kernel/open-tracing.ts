import type { TracingConfig } from '@agent-exchange/server/settings'
import { openTracer, type TracingTools } from '@agent-exchange/server/tracing'
import { createTracing, type Tracing } from './tracing.ts'

/** Nothing waits for the collector: spans are queued, and dropped if it is slow or away. */
export async function openTracing(
  config: TracingConfig,
  tools: TracingTools,
): Promise<Tracing & AsyncDisposable> {
  const opened = await openTracer(config, tools)
  return { ...createTracing(opened.tracer), [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}
