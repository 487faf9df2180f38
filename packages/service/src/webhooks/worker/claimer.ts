import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Database, loggableError } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { AttemptTools } from './attempt.ts'
import { createClaimLedger } from './claim-ledger.ts'
import { removeClaims } from '../queue/claim-store.ts'
import { beginClaim } from '../queue/claim-store.ts'
import { claimDeliveries, type ClaimedDelivery } from '../queue/claim-deliveries.ts'
import { releaseDeliveries } from '../queue/delivery-store.ts'
import type { Lanes, ClaimRequest } from './lanes.ts'
import { BATCHING_THRESHOLD, CLAIM_BATCH_DELAY_MS } from './webhook-limits.ts'
import { type ReclaimedWork, reclaimUnknown } from './reclaim.ts'

interface ClaimerSettings {
  readonly db: Database
  readonly tools: AttemptTools
  readonly lanes: Lanes
  readonly log: Logger
  readonly isTraced: boolean
  /** Whether this worker may claim deliveries and start requests now. */
  readonly mayClaim: () => boolean
  /** How many more requests can start now. */
  readonly room: () => number
  readonly begin: (claimed: readonly ClaimedDelivery[]) => void
  readonly onReclaimed: (work: readonly ReclaimedWork[]) => void
  /** Resolves when no transaction claims deliveries directly. None begins to while `isUncertain`. */
  readonly directIdle: () => Promise<void>
  /** The database failed: call `pump` again later. */
  readonly onFailure: () => void
}

/**
 * Claims due deliveries while there is capacity and starts them at once. After a database failure the outcome of the
 * last claim is unknown, so this worker's unknown claims are reclaimed before it claims more.
 */
export function createClaimer(settings: ClaimerSettings) {
  const { db, tools, lanes, log, mayClaim, room, begin, onReclaimed, directIdle, onFailure } = settings
  const { worker, clock, profile } = tools
  const ledger = createClaimLedger()
  const unreleased: { claimed: ClaimedDelivery; at: string }[] = []
  let isUncertain = false
  let doubts = 0
  let pumping: Promise<void> | undefined

  async function claimAll(): Promise<void> {
    try {
      if (isUncertain) await reconcile()
      while (mayClaim()) {
        if (lanes.inFlight() >= BATCHING_THRESHOLD) await sleep(CLAIM_BATCH_DELAY_MS)
        const wanted = lanes.take(room())
        if (wanted.length === 0) return
        await claim(wanted)
      }
    } catch (error) {
      log.error({ err: loggableError(error) }, 'claiming deliveries failed')
      doubt()
      onFailure()
    }
  }

  async function claim(wanted: readonly ClaimRequest[]): Promise<void> {
    const now = clock.now()
    let claimed: readonly ClaimedDelivery[] = []
    try {
      const order = {
        worker,
        now,
        finished: ledger.takeFinished(),
        unanswered: profile['O-45'],
        isTraced: settings.isTraced,
      }
      claimed = await claimDeliveries(db, wanted, order)
    } finally {
      const byEndpoint = Map.groupBy(claimed, ({ webhook_endpoint_id }) => webhook_endpoint_id)
      for (const each of wanted) {
        const own = byEndpoint.get(each.endpointId) ?? []
        lanes.claimed(each, own.length, own[0]?.organization_id)
      }
    }
    const [first] = claimed
    if (!first) return
    ledger.open(first.claim_id, claimed.length)
    for (const { has_answered, webhook_endpoint_id } of claimed) {
      if (has_answered) continue
      lanes.schedule(webhook_endpoint_id, Date.parse(secondsAfter(now, profile['O-45'].seconds_between)))
    }
    if (await markBegun(first.claim_id, claimed)) begin(claimed)
    else await release(claimed)
  }

  async function markBegun(claimId: number, claimed: readonly ClaimedDelivery[]): Promise<boolean> {
    try {
      return mayClaim() && (await beginClaim(db, { worker, claimId, now: clock.now() }))
    } catch (error) {
      await release(claimed)
      throw error
    }
  }

  /** Releases deliveries without counting an attempt. Without `at` they keep their due time. */
  async function release(claimed: readonly ClaimedDelivery[], at?: string): Promise<void> {
    unreleased.push(...claimed.map((each) => ({ claimed: each, at: at ?? each.next_attempt_at })))
    for (const { webhook_endpoint_id } of claimed) lanes.finished(webhook_endpoint_id, undefined)
    try {
      await releaseAll()
    } catch (error) {
      log.error({ err: loggableError(error) }, 'releasing deliveries failed')
      doubt()
      onFailure()
    }
  }

  async function releaseAll(): Promise<void> {
    const released = unreleased.splice(0)
    try {
      await releaseDeliveries(
        db,
        released.map(({ claimed: { delivery_id: deliveryId, claim_id: claimId }, at: nextAttemptAt }) => {
          return { deliveryId, claimId, nextAttemptAt }
        }),
      )
    } catch (error) {
      unreleased.push(...released)
      throw error
    }
    for (const { claimed } of released) ledger.settled(claimed.claim_id)
  }

  async function reconcile(): Promise<void> {
    await releaseAll()
    // Their claims are not in the ledger yet.
    await directIdle()
    const before = doubts
    onReclaimed(await reclaimUnknown(db, worker, { except: ledger.openIds(), tools, log }))
    if (doubts === before) isUncertain = false
  }

  function doubt(): void {
    doubts++
    isUncertain = true
  }

  return {
    /** Starts claiming unless it is already running. */
    pump(): void {
      pumping ??= claimAll().finally(() => (pumping = undefined))
    },
    idle: async () => pumping,
    release,
    isUncertain: () => isUncertain,
    /** The table may have claims of this worker that it does not know. They are reclaimed before the next claim. */
    doubt,
    /** Starts deliveries that were claimed and begun in the transaction that created them. */
    adopt(claimed: readonly ClaimedDelivery[]): void {
      const [first] = claimed
      if (!first) return
      ledger.open(first.claim_id, claimed.length)
      begin(claimed)
    },
    /** Claims that a statement is about to remove. */
    takeFinished: () => ledger.takeFinished(),
    /** That statement failed. */
    returnFinished: (claimIds: readonly number[]) => ledger.returnFinished(claimIds),
    /** A result was recorded, or dropped because its claim was reclaimed. */
    recorded: (claimId: number) => ledger.settled(claimId),
    /** The database rejected a result: the attempt counts as lost. */
    refused(claimId: number): void {
      ledger.dropped(claimId)
      doubt()
    },
    /** Call at shutdown, so that other workers have nothing to reclaim. */
    async removeFinished(): Promise<void> {
      try {
        await removeClaims(db, worker, ledger.takeFinished())
      } catch (error) {
        log.warn(
          { err: loggableError(error) },
          'removing finished claims failed; other workers will remove them',
        )
      }
    },
  }
}
