import { fingerprint, knownKeys } from '@agent-exchange/server/master-key'
import { createReport } from '../features/overview/report-activity.ts'
import type { Base } from './base.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import type { WatchedFiles } from './watched-files.ts'

/** Reports once before the keys are opened: a rotation of the master key asks every process that reports. */
export async function startReport(
  { config, db, clock, schema, cleanup }: Base,
  { tls, masterKeys }: WatchedFiles,
  { activity, database }: ProcessMetrics,
) {
  const report = cleanup.use(
    createReport({
      db,
      clock,
      activity,
      processId: schema.processId,
      role: config.role,
      codeLevel: schema.codeLevel,
      tls,
      masterKeyIds: () => knownKeys(masterKeys()).map(fingerprint),
      databaseFolder: config.databaseUrl === undefined ? config.dataDirectory : undefined,
      onDisk: database.onDisk,
    }),
  )
  await report.run()
  return report
}
