import type { Config } from '../config/index.ts'
import type { RunningService } from '../service.ts'

/** What the first process tells a worker: everything it needs, once; what it wants to know; at last to stop. */
export type ToWorker =
  | { readonly kind: 'start'; readonly config: Config; readonly isFirst: boolean }
  | { readonly kind: 'report_metrics' }
  | { readonly kind: 'metrics_of_all'; readonly request: number; readonly text: string }
  | { readonly kind: 'stop' }

/** Where the workers listen together. */
export type WorkerAddresses = Pick<RunningService, 'urls' | 'operatorTokenFile'>

/** What a worker answers, and what it asks: its own metrics, and those of all of them. */
export type FromWorker =
  | ({ readonly kind: 'ready' } & WorkerAddresses)
  | { readonly kind: 'failed'; readonly message: string }
  /** At an interval: the wait for `ready` starts again. */
  | { readonly kind: 'migrating' }
  | { readonly kind: 'metrics'; readonly metrics: readonly Metric[] }
  | { readonly kind: 'metrics_wanted'; readonly request: number }

/** A metric with its values, as a prom-client registry gives it. */
export interface Metric {
  readonly name: string
  readonly help: string
  /** `counter`, `gauge`, `histogram` or `summary`. */
  readonly type: string
  readonly aggregator: string
  readonly values: readonly {
    readonly value: number
    readonly labels: Readonly<Record<string, string | number>>
    /** Where it differs from the metric's: `_sum`, `_count`, `_bucket`. */
    readonly metricName?: string
  }[]
}
