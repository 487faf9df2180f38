import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { secondsAfter } from '../kernel/clock.ts'
import { type AttemptTools, judged } from './attempt.ts'
import { type FinishedAttempt, recordWithConsequences } from './attempt-record.ts'
import { takeEndedClaims } from './delivery-store.ts'
import { logFailure } from './failure-log.ts'
import { ENDED_CLAIMS, LEASE_SECONDS } from './limits.ts'

/**
 * Attempts whose lease has ended: their worker is gone, and whether the receiver got them nobody knows. They count,
 * as failures of this moment: the next attempt keeps its distance, and there is none after the seventh. Returns whether
 * there may be more.
 */
export async function recordLost(
  db: Database,
  tools: Pick<AttemptTools, 'clock' | 'profile' | 'random'>,
  log: Logger,
): Promise<boolean> {
  const now = tools.clock.now()
  const ended = await db.begin(async (tx) => {
    const { count, lost } = await takeEndedClaims(tx, now)
    const finished = lost.map((row): FinishedAttempt => {
      const verdict = judged({ kind: 'error', errorClass: 'lost' }, { attempt: row.attempt, now }, tools)
      return {
        deliveryId: row.delivery_id,
        endpointId: row.webhook_endpoint_id,
        organizationId: row.organization_id,
        attempt: row.attempt,
        worker: row.leased_by,
        startedAt: secondsAfter(row.leased_until, -LEASE_SECONDS),
        finishedAt: now,
        verdict,
        details: {
          error_class: 'lost',
          error: 'the worker ended before it could say what became of the attempt',
          next_attempt_at: verdict.outcome === 'retry' ? verdict.at : undefined,
        },
      }
    })
    if (finished.length > 0) await recordWithConsequences(tx, finished)
    return { count, finished }
  })
  for (const each of ended.finished) logFailure(log, each)
  return ended.count === ENDED_CLAIMS
}
