import type { Registry } from 'prom-client'
import type { ServiceOptions } from '../service.ts'
import type { FromWorker, Metric, ToWorker } from './worker-messages.ts'

/** Several times what the first process waits for us workers. */
const TEXT_LIMIT_MS = 5_000

/** A worker's side of the metrics of all: whichever of them is scraped lets the first process ask every one. */
export interface SharedMetrics {
  /** `/metrics` of this worker. */
  readonly metricsOf: NonNullable<ServiceOptions['metricsOf']>
  /** Tells the first process what this one has. */
  report(): Promise<void>
  receive(answer: Extract<ToWorker, { kind: 'metrics_of_all' }>): void
}

export function createSharedMetrics(tell: (message: FromWorker) => void): SharedMetrics {
  let own: Registry | undefined
  let requests = 0
  const waiting = new Map<number, (text: string) => void>()

  const metrics = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const request = ++requests
    waiting.set(request, resolve)
    // Ours alone would pass for a fall of all counts: better no answer than that one.
    const limit = setTimeout(() => reject(new Error('the first process did not answer')), TEXT_LIMIT_MS)
    tell({ kind: 'metrics_wanted', request })
    try {
      return await promise
    } finally {
      clearTimeout(limit)
      waiting.delete(request)
    }
  }
  return {
    metricsOf(registry) {
      own = registry
      return { contentType: registry.contentType, metrics }
    },
    async report() {
      // Declared with numbers for types, where in truth they are words.
      if (own) tell({ kind: 'metrics', metrics: (await own.getMetricsAsJSON()) as unknown as Metric[] })
    },
    receive: ({ request, text }) => waiting.get(request)?.(text),
  }
}
