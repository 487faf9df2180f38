import { progression, type PackageState, type TransportMode } from '@agent-exchange/protocol'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import type { QueueName } from '../kernel/call.ts'
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
  let depths: MutationPipeline['depths'] = () => new Map()
  new Gauge({
    name: 'aex_write_queue_depth',
    help: 'Calls that wait for a transaction, by queue',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, depth] of depths()) this.set({ queue }, depth)
    },
  })
  new Gauge({
    name: 'aex_database_connections',
    help: 'Connections to the database by pool and state: in_use, idle',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { inUse, idle }] of Object.entries(db.pools())) {
        this.set({ pool, state: 'in_use' }, inUse)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    name: 'aex_database_waiting',
    help: 'Callers that wait for a connection to the database, by pool',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waiting }] of Object.entries(db.pools())) this.set({ pool }, waiting)
    },
  })
  return {
    onPackageState: (state: PackageState, mode: TransportMode) => states.inc({ state, mode }),
    onBatch: (queue: QueueName, size: number) => sizes.observe({ queue }, size),
    /** The queues whose depth is shown. */
    watch: (pipeline: Pick<MutationPipeline, 'depths'>) => void (depths = pipeline.depths),
  }
}
