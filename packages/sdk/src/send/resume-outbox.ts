import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { watchLog } from '../log/watch-log.ts'
import { DAY_MILLISECONDS } from '../policy/retention-and-forwarding.ts'
import { deliverEntry } from './entry-delivery.ts'
import { FINISHED_KEPT_DAYS, MAXIMUM_RESUMED } from './send-limits.ts'
import type { SendDependencies } from './send-input.ts'

export interface ResumedPackage {
  readonly packageId: string
  /** `pending` may succeed later; a `refused` package must be sent again with its object. */
  readonly outcome: 'accepted' | 'pending' | 'refused'
  readonly error?: ExchangeError
}

export interface Resumption {
  readonly packages: readonly ResumedPackage[]
  /** Number of old finished entries that were removed. */
  readonly pruned: number
}

/**
 * Sends everything that an earlier process sealed and did not see accepted, oldest first, with the bytes and
 * idempotency keys of the first attempt. Call it when an agent starts.
 *
 * @example
 * const { packages } = await resumeOutbox(context, { outbox })
 * for (const { packageId, outcome, error } of packages) console.log(packageId, outcome, error?.message)
 */
export async function resumeOutbox(context: AgentContext, deps: SendDependencies): Promise<Resumption> {
  const packages: ResumedPackage[] = []
  const waiting = await deps.outbox.pending(MAXIMUM_RESUMED)
  if (waiting.length > 0) await watchLog(context)
  for (const entry of waiting) {
    const { packageId } = entry
    try {
      await deliverEntry(context, entry, deps)
      packages.push({ packageId, outcome: 'accepted' })
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error
      if (error.code === 'aborted') throw error
      const kept = await deps.outbox.read(packageId)
      packages.push({ packageId, outcome: kept?.state === 'refused' ? 'refused' : 'pending', error })
    }
  }
  const cutoff = context.now().getTime() - FINISHED_KEPT_DAYS * DAY_MILLISECONDS
  return { packages, pruned: await deps.outbox.prune(new Date(cutoff).toISOString()) }
}
