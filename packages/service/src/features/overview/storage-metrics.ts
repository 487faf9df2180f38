import { Counter, Gauge, type Registry } from 'prom-client'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { PeriodicTask } from '../../kernel/periodic.ts'
import type { Removed } from '../retention/retention.ts'
import { readBacklog, readDatabaseSize } from './backlog-queries.ts'

const READ_SECONDS = 60

/** Metrics of stored data. Bounded queries read them once a minute; scraping queries nothing. */
export function createStorageMetrics(registry: Registry, { db, clock }: { db: Database; clock: Clock }) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const size = gauge('aex_database_size_bytes', 'Size of the database, read once a minute')
  const pending = gauge(
    'aex_deliveries_pending',
    'Deliveries without a result, at most 10000, read once a minute',
  )
  const retainedAt = gauge(
    'aex_retention_timestamp_seconds',
    'When this process last removed expired rows, or found none; 0 before that',
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
      const [bytes, backlog] = await Promise.all([readDatabaseSize(db), readBacklog(db, clock.now())])
      size.set(bytes)
      pending.set(backlog.pending)
    },
  }
  return {
    task,
    /** Leaves the timestamp where another process does the work. */
    onRetention(counts: Removed): Removed {
      const kinds = Object.entries(counts)
      for (const [kind, count] of kinds) removed.inc({ kind }, count)
      if (kinds.length > 0) retainedAt.set(Date.parse(clock.now()) / 1_000)
      return counts
    },
  }
}
