import type { Logger } from 'pino'
import type { Database, Transaction } from '@agent-exchange/database'
import { tryNames } from '../../kernel/named-locks.ts'
import { type AttemptTools, verdictOf } from './attempt.ts'
import { recordWithSideEffects } from '../queue/attempt-record.ts'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'
import { takeClaims, type TakenDelivery } from '../queue/claim-store.ts'
import { releaseDeliveries } from '../queue/delivery-store.ts'
import { logFailure } from './failure-log.ts'
import { RECLAIM_BATCH_SIZE } from './webhook-limits.ts'

export type ReclaimTools = Pick<AttemptTools, 'clock' | 'profile' | 'random' | 'onLost'>

/** An endpoint and the time at which its reclaimed delivery is due. */
export interface ReclaimedWork {
  readonly endpointId: string
  readonly at: string
}

/**
 * Reclaims the deliveries of a dead worker while holding its lock. If that worker is alive after all, it waits for the
 * lock and then finds its claims gone, so it cannot start them.
 */
export function reclaimFromDeadWorker(
  db: Database,
  worker: string,
  tools: ReclaimTools,
  log: Logger,
): Promise<ReclaimedWork[]> {
  return reclaimAll(db, { log, tools }, async (tx) => {
    const held = await tryNames(tx, 'worker', [worker])
    return held.size > 0 ? undefined : reclaim(tx, worker, { except: [], tools })
  })
}

/** Reclaims deliveries of this worker that it does not know: the reply to a claim was lost, or a result was rejected. */
export function reclaimUnknown(
  db: Database,
  worker: string,
  { except, tools, log }: { except: readonly number[]; tools: ReclaimTools; log: Logger },
): Promise<ReclaimedWork[]> {
  return reclaimAll(db, { log, tools }, (tx) => reclaim(tx, worker, { except, tools }))
}

interface ReclaimStep {
  readonly count: number
  readonly released: readonly TakenDelivery[]
  readonly lost: readonly FinishedAttempt[]
}

async function reclaimAll(
  db: Database,
  { log, tools }: { log: Logger; tools: ReclaimTools },
  step: (tx: Transaction) => Promise<ReclaimStep | undefined>,
): Promise<ReclaimedWork[]> {
  const reclaimed: ReclaimedWork[] = []
  for (;;) {
    const taken = await db.begin(step)
    if (!taken) return reclaimed
    for (const each of taken.lost) {
      logFailure(log, each)
      tools.onLost(each)
    }
    reclaimed.push(
      ...taken.released.map((each) => ({ endpointId: each.webhook_endpoint_id, at: each.next_attempt_at })),
      ...taken.lost.flatMap(({ endpointId, verdict }) =>
        verdict.outcome === 'retry' ? [{ endpointId, at: verdict.at }] : [],
      ),
    )
    if (taken.count < RECLAIM_BATCH_SIZE) return reclaimed
  }
}

/**
 * O-44: a delivery that was not started is no attempt and keeps its due time. A started one may have reached the
 * receiver, so it counts as an attempt that failed now; otherwise there could be an eighth attempt.
 */
async function reclaim(
  tx: Transaction,
  worker: string,
  { except, tools }: { except: readonly number[]; tools: ReclaimTools },
): Promise<ReclaimStep> {
  const now = tools.clock.now()
  const { count, deliveries } = await takeClaims(tx, worker, { except })
  const released = deliveries.filter(({ begun_at }) => begun_at === null)
  const lost = deliveries.flatMap((each) =>
    each.begun_at === null ? [] : lostAttempt(each, each.begun_at, now, tools),
  )
  await releaseDeliveries(
    tx,
    released.map((each) => ({
      deliveryId: each.delivery_id,
      claimId: each.claim_id,
      nextAttemptAt: each.next_attempt_at,
    })),
  )
  if (lost.length > 0) await recordWithSideEffects(tx, lost)
  return { count, released, lost }
}

/** Lost attempts started at different times, so less jitter is enough to spread their retries. */
const LOST_JITTER_SHARE = 1 / 3

function lostAttempt(row: TakenDelivery, begunAt: string, now: string, tools: ReclaimTools): FinishedAttempt {
  const random = () => tools.random() * LOST_JITTER_SHARE
  const verdict = verdictOf(
    { kind: 'error', errorClass: 'lost' },
    { attempt: row.attempt, now },
    { ...tools, random },
  )
  return {
    deliveryId: row.delivery_id,
    claimId: row.claim_id,
    endpointId: row.webhook_endpoint_id,
    organizationId: row.organization_id,
    attempt: row.attempt,
    hasAnswered: true,
    wasFailing: false,
    startedAt: begunAt,
    finishedAt: now,
    verdict,
    details: {
      error_class: 'lost',
      error: 'the worker died before it recorded the result of the attempt',
      next_attempt_at: verdict.outcome === 'retry' ? verdict.at : undefined,
    },
  }
}
