import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { leaseTokens, type Lease, type LeaseRequest } from './rate-bucket-store.ts'
import { countApiProcesses } from '../features/overview/process-store.ts'
import { createBatcher } from '../kernel/batcher.ts'
import { createLeasedBuckets, type RateLimit } from './leased-buckets.ts'
import { createRateLimit } from './rate-limit.ts'

/** How long a process may not notice that another one has started. */
const COUNT_SECONDS = 2
const MAXIMUM_BATCH = 256
const MAXIMUM_QUEUE = 10_000

export interface SharedRateLimit {
  readonly limit: RateLimit
  /** Counts the API processes: one alone needs no lease. */
  readonly task: { readonly name: string; readonly everySeconds: number; readonly run: () => Promise<void> }
}

/** O-13: the request rate of an organization, over all processes. */
export function createSharedRateLimit({
  db,
  profile,
  clock,
}: {
  readonly db: Database
  readonly profile: DeploymentProfile
  readonly clock: Clock
}): SharedRateLimit {
  const { requests_per_second: rate, burst, leased_requests: slice } = profile['O-13']
  const leases = createBatcher<LeaseRequest, Lease>({
    concurrency: 1,
    maximumBatch: MAXIMUM_BATCH,
    maximumQueue: MAXIMUM_QUEUE,
    run: async (requests) =>
      (await leaseTokens(db, requests, { rate, burst })).map((lease) => ({ done: lease })),
  })
  const limitFor = (count: number): RateLimit =>
    count === 1
      ? createRateLimit(profile, clock)
      : createLeasedBuckets({ rate, burst, clock, slice, processes: count, lease: leases.submit })
  let processes = 1
  let limit = limitFor(processes)
  return {
    limit: {
      take: (organizationId) => limit.take(organizationId),
      charge: (organizationId, tokens) => limit.charge(organizationId, tokens),
    },
    task: {
      name: 'rate limit',
      everySeconds: COUNT_SECONDS,
      async run() {
        const alive = await countApiProcesses(db)
        const count = Math.max(1, alive)
        if (count !== processes) limit = limitFor((processes = count))
      },
    },
  }
}
