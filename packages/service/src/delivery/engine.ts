import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import { loggableError } from '../db/loggable-error.ts'
import { type Clock, secondsAfter, secondsBetween } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { WebhookKeys } from '../kernel/platform-keys-webhook.ts'
import { attemptDelivery, type AttemptTools } from './attempt.ts'
import type { FinishedAttempt } from './attempt-record.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import { claimDeliveries, type ClaimedDelivery, nextDueOf, releaseDeliveries } from './delivery-store.ts'
import { logFailure } from './failure-log.ts'
import type { Resolve } from './guarded-connector.ts'
import { createLanes, type Wanted } from './lanes.ts'
import {
  DRAIN_MS,
  GATHERING_FROM_IN_FLIGHT,
  GATHERING_MS,
  MAXIMUM_UNRECORDED,
  SWEEP_MS,
  TICK_MS,
  UNSENT_PAUSE_SECONDS,
} from './limits.ts'
import { watchOwnLoad } from './own-load.ts'
import { createRecorder } from './recorder.ts'
import { createSender } from './sender.ts'
import { endpointKeys } from './signing-keys.ts'
import { createStarts } from './starts.ts'
import { startSweeping } from './sweep.ts'
import { listenForDeliveries } from './wake-up.ts'

export interface DeliverySettings {
  readonly db: Database
  /** A connection of its own, to listen on. */
  readonly openListener: () => Database
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Logger
  readonly webhookKeys: Pick<WebhookKeys, 'signingKey' | 'currentKeyId'>
  readonly webhook: { readonly ca: string | undefined; readonly allowPrivate: boolean }
  readonly metrics: Registry
  /** Instead of the system's resolver. */
  readonly resolve?: Resolve
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
  /** Time for requests under way when it stops. */
  readonly drainMs?: number
}

/**
 * Sends what is due, in any number of processes. Disposing of it drains: nothing more is claimed, what was begun
 * gets its time, and what has not left by then is given back without counting as an attempt.
 */
export function startDelivery(settings: DeliverySettings): AsyncDisposable {
  const { db, clock, log, newId, webhook, resolve } = settings
  const lanes = createLanes()
  const sender = createSender({ ...webhook, ...(resolve && { resolve }) })
  const tools: AttemptTools = {
    worker: newId('wrk'),
    clock,
    profile: settings.profile,
    sender,
    keyFor: endpointKeys(db, settings.webhookKeys, clock),
    random: settings.random ?? Math.random,
  }
  const metrics = createDeliveryMetrics(settings.metrics, { inFlight: lanes.inFlight, lanes: lanes.size })
  const starts = createStarts(begin, {
    laneOf: ({ webhook_endpoint_id }) => webhook_endpoint_id,
    isBusy: watchOwnLoad(),
    onRoom: pump,
  })
  const underWay = new Set<Promise<void>>()
  let isStopping = false
  let pumping: Promise<void> | undefined

  const recorder = createRecorder(db, log, {
    inFlight: lanes.inFlight,
    onRecorded: ({ endpointId, verdict }) => {
      if (verdict.outcome === 'retry') lanes.schedule(endpointId, Date.parse(verdict.at))
    },
  })
  const wakeUp = listenForDeliveries({
    db,
    openListener: settings.openListener,
    log,
    onWake: (endpointIds) => {
      if (endpointIds.length === 0) sweeping.soon()
      else endpointIds.forEach(lanes.wake)
      pump()
    },
  })
  const sweeping = startSweeping({
    db,
    tools,
    lanes,
    log,
    everyMs: SWEEP_MS,
    onSwept: pump,
    probe: wakeUp.probe,
  })
  const ticking = setInterval(tick, TICK_MS)

  function tick(): void {
    const due = lanes.wakeDue(Date.parse(clock.now()))
    if (due.length > 0) void lookFurther(due)
    if (lanes.hasReady()) pump()
  }

  /** A lane remembers its earliest time only: once that has come, the next is asked for. */
  async function lookFurther(endpointIds: readonly string[]): Promise<void> {
    pump()
    await pumping
    try {
      const next = await nextDueOf(db, endpointIds)
      for (const lane of next) lanes.schedule(lane.webhook_endpoint_id, Date.parse(lane.next_attempt_at))
    } catch {
      sweeping.soon()
    }
  }

  /** Claims while there is something to claim and room for it; never twice at once. */
  function pump(): void {
    if (isStopping || pumping) return
    pumping = claimAll().finally(() => (pumping = undefined))
  }

  async function claimAll(): Promise<void> {
    while (!isStopping && recorder.waiting() < MAXIMUM_UNRECORDED) {
      if (lanes.inFlight() >= GATHERING_FROM_IN_FLIGHT) await sleep(GATHERING_MS)
      const wanted = lanes.take(starts.room())
      if (wanted.length === 0) return
      if (!(await claim(wanted))) return
    }
  }

  async function claim(wanted: readonly Wanted[]): Promise<boolean> {
    const now = clock.now()
    let claimed: readonly ClaimedDelivery[] = []
    try {
      claimed = await claimDeliveries(db, wanted, { worker: tools.worker, now })
    } catch (error) {
      log.error({ err: loggableError(error) }, 'deliveries could not be claimed')
      // The database may have done it all the same: then their leases end.
      for (const each of wanted) lanes.claimed(each, 0)
      sweeping.soon()
      return false
    }
    const byEndpoint = Map.groupBy(claimed, ({ webhook_endpoint_id }) => webhook_endpoint_id)
    for (const each of wanted) lanes.claimed(each, byEndpoint.get(each.endpointId)?.length ?? 0)
    metrics.onClaim(claimed[0] ? secondsBetween(claimed[0].next_attempt_at, now) : 0)
    starts.add(claimed)
    return true
  }

  function begin(claimed: ClaimedDelivery): Promise<void> {
    const done = run(claimed).finally(() => underWay.delete(done))
    underWay.add(done)
    return done
  }

  async function run(claimed: ClaimedDelivery): Promise<void> {
    const from = clock.monotonicMilliseconds()
    let finished: FinishedAttempt | undefined
    try {
      finished = isStopping ? undefined : await attemptDelivery(claimed, tools)
    } catch (error) {
      log.error(
        { err: loggableError(error), delivery_id: claimed.delivery_id },
        'a delivery could not be sent',
      )
      await giveBack([claimed], secondsAfter(clock.now(), UNSENT_PAUSE_SECONDS))
      lanes.finished(claimed.webhook_endpoint_id, undefined)
      return
    }
    if (!finished) {
      await giveBack([claimed])
      lanes.finished(claimed.webhook_endpoint_id, undefined)
      return
    }
    const { outcome } = finished.verdict
    metrics.onAttempt(outcome, clock.monotonicMilliseconds() - from)
    if (outcome !== 'delivered') logFailure(log, finished)
    recorder.add(finished)
    lanes.finished(claimed.webhook_endpoint_id, outcome === 'delivered' || outcome === 'failed')
    pump()
  }

  /** Without a time of their own: due as they were. */
  async function giveBack(claimed: readonly ClaimedDelivery[], at?: string): Promise<void> {
    const released = claimed.map(({ delivery_id: deliveryId, attempt, next_attempt_at }) => {
      return { deliveryId, attempt, nextAttemptAt: at ?? next_attempt_at }
    })
    try {
      await releaseDeliveries(db, released, tools.worker)
    } catch (error) {
      // Their leases end, and they count as lost.
      const ids = claimed.map(({ delivery_id }) => delivery_id)
      log.error({ err: loggableError(error), delivery_ids: ids }, 'deliveries could not be given back')
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      isStopping = true
      clearInterval(ticking)
      await Promise.all([sweeping[Symbol.asyncDispose](), wakeUp[Symbol.asyncDispose](), pumping])
      await giveBack(starts.clear())
      sender.recall()
      const limit = new AbortController()
      const { signal } = limit
      await Promise.race([
        Promise.all(underWay),
        sleep(settings.drainMs ?? DRAIN_MS, undefined, { signal }).catch(() => undefined),
      ])
      limit.abort()
      sender.interrupt()
      await Promise.all(underWay)
      await recorder.idle()
      await sender.close()
    },
  }
}
