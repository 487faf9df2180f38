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
import { createClaimer } from './claimer.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import { type ClaimedDelivery, nextDueOf } from './delivery-store.ts'
import { logFailure } from './failure-log.ts'
import type { Resolve } from './guarded-connector.ts'
import { createLanes } from './lanes.ts'
import { DRAIN_MS, MAXIMUM_UNRECORDED, SWEEP_MS, TICK_MS, UNSENT_PAUSE_SECONDS } from './limits.ts'
import { watchOwnLoad } from './own-load.ts'
import { createRecorder } from './recorder.ts'
import { createSender } from './sender.ts'
import { endpointKeys } from './signing-keys.ts'
import { createStarts } from './starts.ts'
import { startSweeping } from './sweep.ts'
import type { ReturnedWork } from './take-back.ts'
import { listenForDeliveries } from './wake-up.ts'
import { watchWorkers } from './watch-workers.ts'

export interface DeliverySettings {
  readonly db: Database
  /** For connections of its own: to listen on, and to hold the worker's lock. */
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
  const underWay = new Set<Promise<void>>()
  /** Organizations that were suspended while this worker listened; claims look into the database. */
  const suspended = new Set<string>()
  let isStopping = false

  const starts = createStarts(begin, { isBusy: watchOwnLoad(), onRoom: pump })
  const recorder = createRecorder(db, log, {
    inFlight: lanes.inFlight,
    onRecorded({ claimId, endpointId, verdict, hasAnswered }) {
      claimer.recorded(claimId)
      if (verdict.outcome === 'retry') lanes.schedule(endpointId, Date.parse(verdict.at))
      if (hasAnswered) return
      lanes.wake(endpointId)
      pump()
    },
    onRefused: ({ claimId }) => claimer.refused(claimId),
  })
  const claimer = createClaimer({
    db,
    tools,
    lanes,
    log,
    mayClaim: () => !isStopping && lock.isHeld() && recorder.waiting() < MAXIMUM_UNRECORDED,
    room: starts.room,
    begin(claimed) {
      metrics.onClaim(claimed[0] ? secondsBetween(claimed[0].next_attempt_at, clock.now()) : 0)
      starts.add(claimed)
    },
    onReturned,
    onFailure: () => sweeping.soon(),
  })
  const lockConnection = settings.openListener()
  const lock = lockConnection.holdWorkerName(tools.worker, (isHeld) => {
    if (isHeld) return pump()
    log.warn({ worker: tools.worker }, 'the connection that holds the lock of this worker was lost')
    workers.pause()
  })
  const wakeUp = listenForDeliveries({
    db,
    openListener: settings.openListener,
    log,
    onWake(endpointIds) {
      if (endpointIds.length === 0) lookEverywhere()
      else endpointIds.forEach(lanes.wake)
      pump()
    },
    onOrganization(organizationId, status) {
      if (status === 'active') return lookEverywhere()
      suspended.add(organizationId)
      sender.recall(organizationId)
    },
  })
  const sweeping = startSweeping({
    db,
    clock,
    lanes,
    log,
    everyMs: SWEEP_MS,
    onSwept: pump,
    probe: wakeUp.probe,
  })
  const workers = watchWorkers({
    db,
    worker: tools.worker,
    tools,
    log,
    onCounted: lanes.shareWith,
    onReturned,
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
    await claimer.idle()
    try {
      const next = await nextDueOf(db, endpointIds)
      for (const lane of next) lanes.schedule(lane.webhook_endpoint_id, Date.parse(lane.next_attempt_at))
    } catch {
      sweeping.soon()
    }
  }

  /** Something may have been missed: also that an organization is active again. */
  function lookEverywhere(): void {
    suspended.clear()
    sweeping.soon()
  }

  function onReturned(work: readonly ReturnedWork[]): void {
    for (const { endpointId, at } of work) lanes.schedule(endpointId, Date.parse(at))
    tick()
  }

  function pump(): void {
    if (!isStopping) claimer.pump()
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
      const mayLeave = !isStopping && lock.isHeld() && !suspended.has(claimed.organization_id)
      finished = mayLeave ? await attemptDelivery(claimed, tools) : undefined
    } catch (error) {
      log.error(
        { err: loggableError(error), delivery_id: claimed.delivery_id },
        'a delivery could not be sent',
      )
      return claimer.giveBack([claimed], secondsAfter(clock.now(), UNSENT_PAUSE_SECONDS))
    }
    if (!finished) return claimer.giveBack([claimed])
    const { outcome } = finished.verdict
    metrics.onAttempt(outcome, clock.monotonicMilliseconds() - from)
    if (outcome !== 'delivered') logFailure(log, finished)
    recorder.add(finished)
    lanes.finished(claimed.webhook_endpoint_id, outcome === 'delivered' || outcome === 'failed')
    pump()
  }

  return {
    async [Symbol.asyncDispose]() {
      isStopping = true
      clearInterval(ticking)
      await Promise.all([
        sweeping[Symbol.asyncDispose](),
        wakeUp[Symbol.asyncDispose](),
        workers[Symbol.asyncDispose](),
        claimer.idle(),
      ])
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
      await claimer.removeFinished()
      await lockConnection.end({ timeout: 0 })
      await sender.close()
    },
  }
}
