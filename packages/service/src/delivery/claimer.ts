import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { loggableError } from '../db/loggable-error.ts'
import { secondsAfter } from '../kernel/clock.ts'
import type { AttemptTools } from './attempt.ts'
import { createClaimLedger } from './claim-ledger.ts'
import { removeClaims } from './claim-store.ts'
import { beginClaim, claimDeliveries, type ClaimedDelivery, releaseDeliveries } from './delivery-store.ts'
import type { Lanes, Wanted } from './lanes.ts'
import { GATHERING_FROM_IN_FLIGHT, GATHERING_MS } from './limits.ts'
import { type ReturnedWork, takeBackUnknown } from './take-back.ts'

interface ClaimerSettings {
  readonly db: Database
  readonly tools: AttemptTools
  readonly lanes: Lanes
  readonly log: Logger
  /** Whether this worker may claim and begin now. */
  readonly mayClaim: () => boolean
  /** How many more can begin at once. */
  readonly room: () => number
  readonly begin: (claimed: readonly ClaimedDelivery[]) => void
  readonly onReturned: (work: readonly ReturnedWork[]) => void
  /** The database failed: somebody should call `pump` a little later. */
  readonly onFailure: () => void
}

/**
 * Claims while there is something to claim and room for it, and begins at once what it has claimed. After a failure of
 * the database it is not known what was claimed: then it first takes back what the table has under this worker's name
 * and the worker knows nothing of.
 */
export function createClaimer(settings: ClaimerSettings) {
  const { db, tools, lanes, log, mayClaim, room, begin, onReturned, onFailure } = settings
  const { worker, clock, profile } = tools
  const ledger = createClaimLedger()
  const unreturned: { claimed: ClaimedDelivery; at: string }[] = []
  let isUncertain = false
  let pumping: Promise<void> | undefined

  async function claimAll(): Promise<void> {
    try {
      if (isUncertain) await reconcile()
      while (mayClaim()) {
        if (lanes.inFlight() >= GATHERING_FROM_IN_FLIGHT) await sleep(GATHERING_MS)
        const wanted = lanes.take(room())
        if (wanted.length === 0) return
        await claim(wanted)
      }
    } catch (error) {
      log.error({ err: loggableError(error) }, 'deliveries could not be claimed')
      isUncertain = true
      onFailure()
    }
  }

  async function claim(wanted: readonly Wanted[]): Promise<void> {
    const now = clock.now()
    let claimed: readonly ClaimedDelivery[] = []
    try {
      const order = { worker, now, finished: ledger.takeFinished(), unanswered: profile['O-45'] }
      claimed = await claimDeliveries(db, wanted, order)
    } finally {
      const byEndpoint = Map.groupBy(claimed, ({ webhook_endpoint_id }) => webhook_endpoint_id)
      for (const each of wanted) lanes.claimed(each, byEndpoint.get(each.endpointId)?.length ?? 0)
    }
    const [first] = claimed
    if (!first) return
    ledger.open(first.claim_id, claimed.length)
    for (const { has_answered, webhook_endpoint_id } of claimed) {
      if (has_answered) continue
      lanes.schedule(webhook_endpoint_id, Date.parse(secondsAfter(now, profile['O-45'].seconds_between)))
    }
    if (await hasBegun(first.claim_id, claimed)) begin(claimed)
    else await giveBack(claimed)
  }

  async function hasBegun(claimId: number, claimed: readonly ClaimedDelivery[]): Promise<boolean> {
    try {
      return mayClaim() && (await beginClaim(db, { worker, claimId, now: clock.now() }))
    } catch (error) {
      await giveBack(claimed)
      throw error
    }
  }

  /** Without a time of their own: due as they were. They count as no attempt. */
  async function giveBack(claimed: readonly ClaimedDelivery[], at?: string): Promise<void> {
    unreturned.push(...claimed.map((each) => ({ claimed: each, at: at ?? each.next_attempt_at })))
    for (const { webhook_endpoint_id } of claimed) lanes.finished(webhook_endpoint_id, undefined)
    try {
      await returnAll()
    } catch (error) {
      log.error({ err: loggableError(error) }, 'deliveries could not be given back')
      isUncertain = true
      onFailure()
    }
  }

  async function returnAll(): Promise<void> {
    const released = unreturned.splice(0)
    try {
      await releaseDeliveries(
        db,
        released.map(({ claimed: { delivery_id: deliveryId, claim_id: claimId }, at: nextAttemptAt }) => {
          return { deliveryId, claimId, nextAttemptAt }
        }),
      )
    } catch (error) {
      unreturned.push(...released)
      throw error
    }
    for (const { claimed } of released) ledger.settled(claimed.claim_id)
  }

  async function reconcile(): Promise<void> {
    await returnAll()
    onReturned(await takeBackUnknown(db, worker, { except: ledger.openIds(), tools, log }))
    isUncertain = false
  }

  return {
    /** Never twice at once. */
    pump(): void {
      pumping ??= claimAll().finally(() => (pumping = undefined))
    },
    idle: async () => pumping,
    giveBack,
    /** A result is in the database, or came too late for it. */
    recorded: (claimId: number) => ledger.settled(claimId),
    /** A result that the database refuses: the attempt counts as lost. */
    refused(claimId: number): void {
      ledger.dropped(claimId)
      isUncertain = true
    },
    /** At the end of the worker: nothing is left for others to take back. */
    async removeFinished(): Promise<void> {
      try {
        await removeClaims(db, worker, ledger.takeFinished())
      } catch (error) {
        log.warn({ err: loggableError(error) }, 'finished claims were left to the other workers')
      }
    },
  }
}
