import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { type Database, loggableError } from '@agent-exchange/database'
import { type Clock, secondsAfter } from '@agent-exchange/server/clock'
import { withinTime } from '@agent-exchange/server/within-time'
import type { NewId } from '../../kernel/ids.ts'
import type { WebhookKeys } from '../../platform-keys/webhook-keys.ts'
import { attemptDelivery, type AttemptTools } from './attempt.ts'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'
import type { DirectClaims, DirectDelivery } from '../../kernel/direct-claims.ts'
import { createClaimer } from './claimer.ts'
import { createDirectSlots } from './direct-slots.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import type { ClaimedDelivery } from '../queue/claim-deliveries.ts'
import { nextDueOf } from '../queue/due-lanes.ts'
import { logFailure } from './failure-log.ts'
import type { ConnectorSettings } from './guarded-connector.ts'
import type { Resolve } from './resolve-name.ts'
import { createLanes } from './lanes.ts'
import {
  DRAIN_MS,
  MAXIMUM_UNRECORDED,
  RECORDING_STOP_MS,
  REREAD_MS,
  SWEEP_MS,
  TICK_MS,
  SIGNING_RETRY_SECONDS,
} from './webhook-limits.ts'
import { watchEventLoopLoad } from './event-loop-load.ts'
import { createRecorder } from './recorder.ts'
import { createSender } from './sender.ts'
import { endpointKeys } from './signing-keys.ts'
import { createConcurrencyRamp } from './concurrency-ramp.ts'
import { startSweeper } from './sweep.ts'
import type { ReclaimedWork } from './reclaim.ts'
import { listenForDeliveries } from './wake-up.ts'
import { watchWorkers } from './watch-workers.ts'
import { holdWorkerName } from '../../kernel/worker-lock.ts'
import type { Tracing } from '../../kernel/tracing.ts'
import { tracedAttempt } from './traced-attempt.ts'

export interface DeliverySettings {
  readonly db: Database
  /** Opens dedicated connections: one for LISTEN, one for the worker's session lock. */
  readonly openListener: () => Database
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Logger
  readonly webhookKeys: Pick<WebhookKeys, 'signingKey' | 'currentKeyId'>
  readonly webhook: Pick<ConnectorSettings, 'ca' | 'allowPrivate'>
  readonly metrics: Registry
  /** Called for every attempt that has a result. */
  readonly onAttempt?: (outcome: string, milliseconds: number) => void
  /** Undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
  /** Replaces the system's DNS resolver. */
  readonly resolve?: Resolve
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
  /** Grace period for requests in flight at shutdown. */
  readonly drainMs?: number
}

/**
 * Sends due deliveries; any number of processes may run it. Disposing drains: claiming stops, requests in flight get
 * a grace period, and unsent deliveries are released without counting as attempts.
 */
export function startDelivery(settings: DeliverySettings): DirectClaims & AsyncDisposable {
  const { db, clock, log, newId, webhook, resolve, tracing } = settings
  const lanes = createLanes()
  const sender = createSender({ ...webhook, ...(resolve && { resolve }) })
  const tools: AttemptTools = {
    worker: newId('wrk'),
    clock,
    profile: settings.profile,
    sender,
    keyFor: endpointKeys(db, settings.webhookKeys, clock),
    random: settings.random ?? Math.random,
    onLost(lost) {
      metrics.onAttempt(lost)
      metrics.onRecorded(lost)
    },
  }
  const metrics = createDeliveryMetrics(settings.metrics, { inFlight: lanes.inFlight, lanes: lanes.size })
  const attempt = (claimed: ClaimedDelivery) =>
    tracing ? tracedAttempt(tracing, claimed, tools) : attemptDelivery(claimed, tools)
  const inFlight = new Set<Promise<void>>()
  /** Organizations suspended after their deliveries were claimed. Claims themselves check the database. */
  const suspended = new Set<string>()
  let isStopping = false

  const ramp = createConcurrencyRamp(begin, { isBusy: watchEventLoopLoad(), onRoom: pump })
  const recorder = createRecorder(db, log, {
    inFlight: lanes.inFlight,
    onRecorded: metrics.onRecorded,
    onSettled({ claimId, endpointId, verdict, hasAnswered }) {
      claimer.recorded(claimId)
      if (verdict.outcome === 'retry') lanes.schedule(endpointId, Date.parse(verdict.at))
      if (hasAnswered) return
      lanes.wake(endpointId)
      pump()
    },
    onRefused: ({ claimId }) => claimer.refused(claimId),
    takeFinishedClaims: () => ({ worker: tools.worker, claimIds: claimer.takeFinished() }),
    returnFinishedClaims: ({ claimIds }) => claimer.returnFinished(claimIds),
  })
  const mayClaim = () => !isStopping && lock.isHeld() && recorder.waiting() < MAXIMUM_UNRECORDED
  const direct = createDirectSlots({
    worker: tools.worker,
    lanes,
    mayClaim: () => mayClaim() && !claimer.isUncertain(),
    room: ramp.room,
    begin: (claimed) => claimer.adopt(claimed.map(toClaimed)),
    onFreed: pump,
    onDoubt() {
      claimer.doubt()
      sweeper.requestSweep()
    },
  })
  const claimer = createClaimer({
    db,
    tools,
    lanes,
    log,
    isTraced: tracing !== undefined,
    mayClaim,
    room: ramp.room,
    begin: ramp.add,
    onReclaimed,
    directIdle: direct.idle,
    onFailure: () => sweeper.requestSweep(),
  })
  const lockConnection = settings.openListener()
  const lock = holdWorkerName(lockConnection, tools.worker, (isHeld) => {
    if (isHeld) return pump()
    log.warn({ worker: tools.worker }, 'lost the connection that holds the worker lock')
    // A server that crashed may have lost results that were not flushed.
    claimer.doubt()
    workers.pause()
  })
  const wakeUp = listenForDeliveries({
    db,
    openListener: settings.openListener,
    log,
    onWake(endpointIds) {
      if (endpointIds.length === 0) resync()
      else endpointIds.forEach(lanes.wake)
      pump()
    },
    onOrganization(organizationId, status) {
      if (status === 'active') return resync()
      suspended.add(organizationId)
      sender.cancelUnsent(organizationId)
    },
  })
  const sweeper = startSweeper({
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
    onReclaimed,
  })
  const ticking = setInterval(tick, TICK_MS)
  const checkingOwnClaims = setInterval(() => {
    claimer.doubt()
    pump()
  }, REREAD_MS)

  function tick(): void {
    const due = lanes.wakeDue(Date.parse(clock.now()))
    if (due.length > 0) void scheduleNextDue(due)
    if (lanes.hasReady()) pump()
  }

  /** A lane knows only its earliest due time, so the next one is queried after that has passed. */
  async function scheduleNextDue(endpointIds: readonly string[]): Promise<void> {
    pump()
    await claimer.idle()
    try {
      const next = await nextDueOf(db, endpointIds)
      for (const lane of next) lanes.schedule(lane.webhook_endpoint_id, Date.parse(lane.next_attempt_at))
    } catch {
      sweeper.requestSweep()
    }
  }

  /** Notifications may have been missed, including one that reactivated an organization. */
  function resync(): void {
    suspended.clear()
    sweeper.requestSweep()
  }

  function onReclaimed(work: readonly ReclaimedWork[]): void {
    for (const { endpointId, at } of work) lanes.schedule(endpointId, Date.parse(at))
    tick()
  }

  function pump(): void {
    if (!isStopping) claimer.pump()
  }

  function begin(claimed: ClaimedDelivery): Promise<void> {
    const done = run(claimed).finally(() => inFlight.delete(done))
    inFlight.add(done)
    return done
  }

  async function run(claimed: ClaimedDelivery): Promise<void> {
    const startedAt = clock.monotonicMilliseconds()
    let finished: FinishedAttempt | undefined
    try {
      const maySend = !isStopping && lock.isHeld() && !suspended.has(claimed.organization_id)
      finished = maySend ? await attempt(claimed) : undefined
    } catch (error) {
      log.error({ err: loggableError(error), delivery_id: claimed.delivery_id }, 'sending a delivery failed')
      return claimer.release([claimed], secondsAfter(clock.now(), SIGNING_RETRY_SECONDS))
    }
    if (!finished) return claimer.release([claimed])
    const { outcome } = finished.verdict
    const milliseconds = clock.monotonicMilliseconds() - startedAt
    metrics.onAttempt(finished, milliseconds)
    settings.onAttempt?.(outcome, milliseconds)
    if (outcome !== 'delivered') logFailure(log, finished)
    recorder.add(finished)
    direct.onResult(claimed.webhook_endpoint_id, claimed.organization_id, outcome === 'delivered')
    lanes.finished(claimed.webhook_endpoint_id, outcome === 'delivered' || outcome === 'failed')
    pump()
  }

  return {
    reserve: direct.reserve,
    async [Symbol.asyncDispose]() {
      isStopping = true
      clearInterval(ticking)
      clearInterval(checkingOwnClaims)
      await Promise.all([
        sweeper[Symbol.asyncDispose](),
        wakeUp[Symbol.asyncDispose](),
        workers[Symbol.asyncDispose](),
        claimer.idle(),
        direct.idle(),
      ])
      sender.cancelUnsent()
      await withinTime(Promise.all(inFlight), settings.drainMs ?? DRAIN_MS)
      sender.interrupt()
      await Promise.all(inFlight)
      const unwritten = await recorder.finish(RECORDING_STOP_MS)
      if (unwritten > 0)
        log.warn(
          { results: unwritten },
          'stopped without writing delivery results: their attempts count as lost, and the deliveries are sent again',
        )
      await claimer.removeFinished()
      await lockConnection.end({ timeout: 0 })
      await sender.close()
    },
  }
}

/** Direct claims are for endpoints that answer, and only for first attempts. */
function toClaimed(delivery: DirectDelivery): ClaimedDelivery {
  return { ...delivery, attempt: 1, has_answered: true, was_failing: false }
}
