import type { Logger } from 'pino'
import type { Database, Transaction } from '../db/database.ts'
import { tryNames } from '../db/locks.ts'
import { type AttemptTools, judged } from './attempt.ts'
import { type FinishedAttempt, recordWithConsequences } from './attempt-record.ts'
import { takeClaims, type TakenDelivery } from './claim-store.ts'
import { releaseDeliveries } from './delivery-store.ts'
import { logFailure } from './failure-log.ts'
import { TAKEN_CLAIMS } from './limits.ts'

export type TakeBackTools = Pick<AttemptTools, 'clock' | 'profile' | 'random'>

/** When an endpoint has something to send again. */
export interface ReturnedWork {
  readonly endpointId: string
  readonly at: string
}

/**
 * Takes back what a dead worker has claimed. Its lock is held meanwhile: a worker that lives after all, and comes back
 * for its lock, waits until the claims are gone, and cannot begin them.
 */
export function takeBackFrom(
  db: Database,
  worker: string,
  tools: TakeBackTools,
  log: Logger,
): Promise<ReturnedWork[]> {
  return takeBackAll(db, log, async (tx) => {
    const held = await tryNames(tx, 'worker', [worker])
    return held.size > 0 ? undefined : takeBack(tx, worker, { except: [], tools })
  })
}

/** The same for claims of this worker that it knows nothing of: the answer to the claim was lost, or a result refused. */
export function takeBackUnknown(
  db: Database,
  worker: string,
  { except, tools, log }: { except: readonly number[]; tools: TakeBackTools; log: Logger },
): Promise<ReturnedWork[]> {
  return takeBackAll(db, log, (tx) => takeBack(tx, worker, { except, tools }))
}

interface TakenBack {
  readonly count: number
  readonly released: readonly TakenDelivery[]
  readonly lost: readonly FinishedAttempt[]
}

async function takeBackAll(
  db: Database,
  log: Logger,
  step: (tx: Transaction) => Promise<TakenBack | undefined>,
): Promise<ReturnedWork[]> {
  const returned: ReturnedWork[] = []
  for (;;) {
    const taken = await db.begin(step)
    if (!taken) return returned
    for (const each of taken.lost) logFailure(log, each)
    returned.push(
      ...taken.released.map((each) => ({ endpointId: each.webhook_endpoint_id, at: each.next_attempt_at })),
      ...taken.lost.flatMap(({ endpointId, verdict }) =>
        verdict.outcome === 'retry' ? [{ endpointId, at: verdict.at }] : [],
      ),
    )
    if (taken.count < TAKEN_CLAIMS) return returned
  }
}

/**
 * O-44: what was claimed and not begun is no attempt, and due as before. Of what was begun nobody knows whether the
 * receiver got it: it counts, as a failure of this moment, so that there is none after the seventh.
 */
async function takeBack(
  tx: Transaction,
  worker: string,
  { except, tools }: { except: readonly number[]; tools: TakeBackTools },
): Promise<TakenBack> {
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
  if (lost.length > 0) await recordWithConsequences(tx, lost)
  return { count, released, lost }
}

/** They have been under way for different times already: less jitter is enough to bring them apart. */
const LOST_JITTER_SHARE = 1 / 3

function lostAttempt(
  row: TakenDelivery,
  begunAt: string,
  now: string,
  tools: TakeBackTools,
): FinishedAttempt {
  const random = () => tools.random() * LOST_JITTER_SHARE
  const verdict = judged(
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
    startedAt: begunAt,
    finishedAt: now,
    verdict,
    details: {
      error_class: 'lost',
      error: 'the worker ended before it could record the result of the attempt',
      next_attempt_at: verdict.outcome === 'retry' ? verdict.at : undefined,
    },
  }
}
