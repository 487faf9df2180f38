import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { loggableError } from '../db/loggable-error.ts'
import type { Clock } from '../kernel/clock.ts'
import { sweepLanes } from './delivery-store.ts'
import type { Lanes } from './lanes.ts'
import { LONGEST_SWEEP_PAUSE_MS, MAXIMUM_LANES, SOON_MS, SWEEP_REST, SWEPT_LANES } from './limits.ts'

export interface Sweeping extends AsyncDisposable {
  /** Not to wait for the next turn. */
  soon(): void
}

interface SweepSettings {
  readonly db: Database
  readonly clock: Clock
  readonly lanes: Lanes
  readonly log: Logger
  readonly everyMs: number
  readonly onSwept: () => void
  /** Keeps the wake-up calls coming. */
  readonly probe: () => Promise<void>
}

/**
 * What stands behind the wake-up calls: looks through the endpoints that have something to send, now or later. Never
 * twice at once.
 */
export function startSweeping({ db, clock, lanes, log, everyMs, onSwept, probe }: SweepSettings): Sweeping {
  let running: Promise<void> | undefined
  let isAsked = false
  let isStopped = false
  let soonTimer: NodeJS.Timeout | undefined
  let next: NodeJS.Timeout | undefined

  async function sweep(): Promise<void> {
    try {
      await lookThroughLanes()
    } catch (error) {
      log.error({ err: loggableError(error) }, 'the sweep for deliveries failed')
    }
    onSwept()
  }

  async function lookThroughLanes(): Promise<void> {
    let after = ''
    for (let seen = 0; seen < MAXIMUM_LANES && !isStopped; seen += SWEPT_LANES) {
      const found = await sweepLanes(db, after)
      const now = clock.now()
      for (const { webhook_endpoint_id: endpointId, next_attempt_at: at, is_active } of found) {
        if (!is_active) continue
        if (at <= now) lanes.wake(endpointId)
        else lanes.schedule(endpointId, Date.parse(at))
      }
      onSwept()
      after = found.at(-1)?.webhook_endpoint_id ?? ''
      if (found.length < SWEPT_LANES) return
    }
  }

  function start(): void {
    clearTimeout(next)
    if (isStopped) return
    if (running) {
      isAsked = true
      return
    }
    const from = clock.monotonicMilliseconds()
    running = sweep().finally(() => {
      running = undefined
      const took = clock.monotonicMilliseconds() - from
      next = setTimeout(start, Math.min(Math.max(everyMs, took * SWEEP_REST), LONGEST_SWEEP_PAUSE_MS))
      if (isAsked) {
        isAsked = false
        start()
      }
    })
  }

  const probing = setInterval(() => void probe(), everyMs)
  start()

  return {
    soon() {
      soonTimer ??= setTimeout(() => {
        soonTimer = undefined
        start()
      }, SOON_MS)
    },
    async [Symbol.asyncDispose]() {
      isStopped = true
      clearInterval(probing)
      clearTimeout(next)
      clearTimeout(soonTimer)
      await running
      clearTimeout(next)
    },
  }
}
