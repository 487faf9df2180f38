import { setTimeout as sleep } from 'node:timers/promises'
import type { Tracer } from '@opentelemetry/api'
import { ExportResultCode } from '@opentelemetry/core'
import { defaultResource, detectResources, resourceFromAttributes } from '@opentelemetry/resources'
import { resourceAttributesEnvDetector } from '@opentelemetry/resources'
import { BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { TraceIdRatioBasedSampler, type Sampler, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { SamplerConfig, TracingConfig } from '../settings/tracing.ts'

/** Finished spans that wait for the collector; more are dropped. */
const MAXIMUM_QUEUE = 2_048
const EXPORT_BATCH = 512
const EXPORT_DELAY_MS = 1_000
/** Spans that are not exported within this time at shutdown are lost. */
const SHUTDOWN_MS = 2_000
/** A collector that is away is reported once in this time. */
const WARNING_PAUSE_MS = 60_000

export interface TracingTools {
  readonly log: Logger
  readonly metrics: Registry
}

/** Nothing waits for the collector: spans are queued, and dropped if it is slow or away. */
export async function openTracer(
  config: TracingConfig,
  { log, metrics }: TracingTools,
): Promise<AsyncDisposable & { readonly tracer: Tracer }> {
  const exporter = observed(await createExporter(config), log, metrics)
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
      .merge(resourceFromAttributes({ 'service.name': config.serviceName })),
    sampler: samplerOf(config.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAXIMUM_QUEUE,
        maxExportBatchSize: EXPORT_BATCH,
        scheduledDelayMillis: EXPORT_DELAY_MS,
      }),
    ],
  })
  return {
    tracer: provider.getTracer('agent-exchange'),
    async [Symbol.asyncDispose]() {
      const flushed = provider.shutdown().catch(() => undefined)
      await Promise.race([flushed, sleep(SHUTDOWN_MS, undefined, { ref: false })])
    },
  }
}

/** Both packages hold one class; only the one that is needed is loaded. */
async function createExporter({ url, protocol }: TracingConfig): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'))
  return new OTLPTraceExporter({ url })
}

function samplerOf({ isParentBased, ratio }: SamplerConfig): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio)
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

/** Counts exported and lost spans. The message of a failure may quote the collector, so it is not logged. */
function observed(exporter: SpanExporter, log: Logger, registry: Registry): SpanExporter {
  const spans = new Counter({
    name: 'aex_trace_spans_total',
    help: 'Spans sent to the collector of traces: exported, failed',
    labelNames: ['result'],
    registers: [registry],
  })
  let isQuiet = false
  const warn = () => {
    if (isQuiet) return
    isQuiet = true
    setTimeout(() => (isQuiet = false), WARNING_PAUSE_MS).unref()
    log.warn('the collector of traces does not accept spans; they are dropped')
  }
  return {
    export: (batch, done) =>
      exporter.export(batch, (result) => {
        const isExported = result.code === ExportResultCode.SUCCESS
        spans.inc({ result: isExported ? 'exported' : 'failed' }, batch.length)
        if (!isExported) warn()
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}
