import { Counter, Gauge, type Registry } from 'prom-client'
import { type Database, mayFailoverLose, readReplication, REPLICATIONS } from '@agent-exchange/database'
import { type Clock, secondsBetween } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { ROLES } from '../../config/index.ts'
import { readPartitionSizes } from '../retention/partition-sizes.ts'
import { readLastRun, startRecordingRuns } from '../retention/progress-store.ts'
import type { Removed } from '../retention/retention.ts'
import { readBacklog, readDatabaseSize, type Backlog } from './backlog-queries.ts'
import { countProcesses } from './process-store.ts'

const READ_SECONDS = 60

interface StorageMetricSettings {
  readonly db: Database
  readonly clock: Clock
  /** Whether the address of the database names several hosts. */
  readonly hasSeveralDatabaseHosts: boolean
}

/** Metrics of stored data. Bounded queries read them once a minute; scraping queries nothing. */
export function createStorageMetrics(registry: Registry, settings: StorageMetricSettings) {
  const { db, clock, hasSeveralDatabaseHosts } = settings
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const size = gauge('aex_database_size_bytes', 'Size of the database, read once a minute')
  const partitionSize = gauge(
    'aex_partition_size_bytes',
    'Size of the default and the last partition of a table, read once a minute; above 256 MiB they are not divided',
    ['table', 'partition'],
  )
  const pending = gauge(
    'aex_deliveries_pending',
    'Deliveries without a result, at most 10000, read once a minute',
  )
  const oldestDue = gauge(
    'aex_delivery_oldest_due_seconds',
    'How long the oldest due delivery has waited, by what it waits for (worker, endpoint), read once a minute',
    ['waits_for'],
  )
  const processes = gauge('aex_processes', 'Live processes of the exchange by role, read once a minute', [
    'role',
  ])
  const replication = gauge(
    'aex_database_replication',
    '1 for the state of replication: none, asynchronous, synchronous; read once a minute',
    ['state'],
  )
  const unsafe = gauge(
    'aex_database_failover_unsafe',
    '1 while a failover of the database may lose accepted packages, read once a minute',
  )
  const retainedAt = gauge(
    'aex_retention_timestamp_seconds',
    'When a process last removed expired rows, or found none; read once a minute',
  )
  const removed = new Counter({
    name: 'aex_retention_removed_total',
    help: 'Rows that retention removed, by kind; the kind partitions counts dropped partitions',
    labelNames: ['kind'],
    registers: [registry],
  })
  const task: PeriodicTask = {
    name: 'storage metrics',
    everySeconds: READ_SECONDS,
    atStart: true,
    async run() {
      const now = clock.now()
      await startRecordingRuns(db, now)
      // One after the other: nobody waits for these figures, and each query at the same time would open a connection.
      const bytes = await readDatabaseSize(db)
      const backlog = await readBacklog(db, now)
      const running = await countProcesses(db)
      const state = await readReplication(db)
      const lastRun = (await readLastRun(db)) ?? now
      const partitions = await readPartitionSizes(db)
      size.set(bytes)
      for (const { table, partition, bytes: own } of partitions) partitionSize.set({ table, partition }, own)
      pending.set(backlog.pending)
      for (const [waits_for, seconds] of Object.entries(waitsOf(backlog, now)))
        oldestDue.set({ waits_for }, seconds)
      for (const role of ROLES) processes.set({ role }, running.get(role) ?? 0)
      for (const each of REPLICATIONS) replication.set({ state: each }, each === state ? 1 : 0)
      unsafe.set(mayFailoverLose(state, hasSeveralDatabaseHosts) ? 1 : 0)
      retainedAt.set(Date.parse(lastRun) / 1_000)
    },
  }
  return {
    task,
    onRetention(counts: Removed): Removed {
      for (const [kind, count] of Object.entries(counts)) removed.inc({ kind }, count)
      return counts
    },
  }
}

function waitsOf({ waits_for_worker_since, waits_for_endpoint_since }: Backlog, now: string) {
  const since = (time: string | null) => (time === null ? 0 : secondsBetween(time, now))
  return { worker: since(waits_for_worker_since), endpoint: since(waits_for_endpoint_since) }
}
