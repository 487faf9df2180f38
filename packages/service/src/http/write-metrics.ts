import { progression, type PackageState, type TransportMode } from '@agent-exchange/protocol'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Database } from '@agent-exchange/database'
import { createPoolMetrics, sampledGauges, type Sample } from '@agent-exchange/server/pool-metrics'
import type { QueueName } from '../kernel/queue-name.ts'
import type { MutationPipeline } from '../kernel/mutation-pipeline.ts'

/** A full batch has 32 calls. */
const SIZES = [1, 2, 4, 8, 16, 24, 32]
const MODES: readonly TransportMode[] = ['native', 'ds_x']

/** Metrics of the write path. Labels have fixed values; scraping reads counters in memory. */
export function createWriteMetrics(registry: Registry, db: Pick<Database, 'pools'>) {
  const registers = [registry]
  const states = new Counter({
    name: 'aex_package_states_total',
    help: 'Packages that reached a state, by transport mode',
    labelNames: ['state', 'mode'],
    registers,
  })
  // A counter that begins at 0 shows its first event as an increase.
  for (const mode of MODES)
    for (const state of [...progression(mode), 'revoked']) states.inc({ state, mode }, 0)
  const sizes = new Histogram({
    name: 'aex_batch_size',
    help: 'Calls that shared a transaction, by queue',
    labelNames: ['queue'],
    buckets: SIZES,
    registers,
  })
  let watched: Pick<MutationPipeline, 'depths'> | undefined
  const gauge = sampledGauges(registry)
  gauge('aex_write_queue_depth', 'Calls that wait for a transaction, by queue', ['queue'], () =>
    [...(watched?.depths() ?? [])].map(([queue, depth]): Sample => [{ queue }, depth]),
  )
  createPoolMetrics(registry, db)
  return {
    onPackageState: (state: PackageState, mode: TransportMode) => states.inc({ state, mode }),
    onBatch: (queue: QueueName, size: number) => sizes.observe({ queue }, size),
    /** The queues whose depth is shown. */
    watch: (pipeline: Pick<MutationPipeline, 'depths'>) => void (watched = pipeline),
  }
}
