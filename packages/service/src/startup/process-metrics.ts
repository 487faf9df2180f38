import { createKeyModuleMetrics } from '@agent-exchange/server/key-module'
import { namesSeveralHosts } from '../config/index.ts'
import { createExpiryMetrics } from '../features/expiry/expiry-metrics.ts'
import { createDatabaseMetrics } from '../features/overview/database-metrics.ts'
import { createStorageMetrics } from '../features/overview/storage-metrics.ts'
import { createLogMetrics } from '../features/transparency-log/log-metrics.ts'
import { createMetrics } from '../http/metrics.ts'
import { createWriteMetrics } from '../http/write-metrics.ts'
import { createActivity } from '../kernel/activity.ts'
import { countActivity } from '../kernel/count-activity.ts'
import type { Base } from './base.ts'
import type { WatchedFiles } from './watched-files.ts'

export type ProcessMetrics = ReturnType<typeof createProcessMetrics>

/** What this process counts: for `/metrics`, and for the overview of all processes. */
export function createProcessMetrics(
  { config, db, clock, secondsSinceAnswer }: Base,
  { tls, webhookCa }: WatchedFiles,
) {
  const { registry, onAnswer, setReady } = createMetrics()
  const activity = createActivity(clock)
  const counters = countActivity(activity)
  const isEmbedded = config.databaseUrl === undefined
  return {
    registry,
    setReady,
    activity,
    counters,
    onAnswer(answer: Parameters<typeof onAnswer>[0]): void {
      onAnswer(answer)
      counters.onAnswer(answer)
    },
    database: createDatabaseMetrics(registry, { secondsSinceAnswer, isEmbedded }),
    writes: createWriteMetrics(registry, db),
    storage: createStorageMetrics(registry, {
      db,
      clock,
      hasSeveralDatabaseHosts: namesSeveralHosts(config),
    }),
    log: createLogMetrics(registry),
    keyModule: createKeyModuleMetrics(registry),
    expiry: createExpiryMetrics(registry, { db, clock, tls, webhookCa }),
  }
}
