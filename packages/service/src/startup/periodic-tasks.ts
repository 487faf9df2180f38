import type { Logger } from 'pino'
import { type Database, loggableError } from '@agent-exchange/database'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { maintainKeys } from '../webhooks/endpoints/maintain-keys.ts'
import { moveToCurrentKey } from '../webhooks/endpoints/move-endpoints.ts'
import { continueEnds } from '../features/organizations/end-organization.ts'
import { removeIdleBuckets } from '../http/rate-bucket-store.ts'
import type { createStorageMetrics } from '../features/overview/storage-metrics.ts'
import { makePartitions } from '../features/retention/make-partitions.ts'
import { removeExpired } from '../features/retention/retention.ts'
import type { Context } from '../kernel/context.ts'
import type { PlatformKeys } from '../platform-keys/platform-keys.ts'
import { purgeAssertions } from '../oauth/assertion-use.ts'

const HOUR_SECONDS = 3_600

/** Work that any process may do at intervals. Each task takes the locks that it needs. */
export function periodicTasks(
  db: Database,
  { profile, clock }: Context,
  { webhook }: PlatformKeys,
  onRetention: ReturnType<typeof createStorageMetrics>['onRetention'],
  log: Pick<Logger, 'error'>,
): readonly PeriodicTask[] {
  return [
    {
      name: 'retention',
      everySeconds: HOUR_SECONDS,
      async run(signal) {
        const removed = await removeExpired(db, profile, clock.now(), signal, (kind, error) => {
          log.error({ kind, err: loggableError(error) }, 'removing expired rows of one kind failed')
        })
        return onRetention(removed)
      },
    },
    { name: 'partitions', everySeconds: 60, run: () => makePartitions(db, clock.now()) },
    {
      name: 'organization ends',
      everySeconds: 60,
      run: (signal) => continueEnds(db, clock.now(), signal),
    },
    { name: 'rate buckets', everySeconds: HOUR_SECONDS, run: () => removeIdleBuckets(db) },
    { name: 'assertions', everySeconds: 300, run: () => purgeAssertions(db, clock.now()) },
    {
      name: 'webhook keys',
      everySeconds: HOUR_SECONDS,
      run: () => maintainKeys(db, webhook, clock.now()),
    },
    {
      name: 'endpoint keys',
      everySeconds: 60,
      run: () => moveToCurrentKey(db, webhook, clock.now()),
    },
  ]
}
