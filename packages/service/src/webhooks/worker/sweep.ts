import type { Logger } from 'pino'
import { type Database, loggableError } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { sweepLanes } from '../queue/due-lanes.ts'
import type { Lanes } from './lanes.ts'
import {
  MAXIMUM_SWEEP_PAUSE_MS,
  MAXIMUM_LANES,
  SWEEP_DEBOUNCE_MS,
  SWEEP_PAUSE_FACTOR,
  SWEEP_PAGE_SIZE,
} from './webhook-limits.ts'

export interface Sweeper extends AsyncDisposable {
  /** Starts the next sweep without waiting for its interval. */
  requestSweep(): void
}

interface SweepSettings {
  readonly db: Database
  readonly clock: Clock
  readonly lanes: Lanes
  readonly log: Logger
  readonly everyMs: number
  readonly onSwept: () => void
  /** Checks that the LISTEN connection still receives notifications. */
  readonly probe: () => Promise<void>
}

/** Finds pending deliveries whose NOTIFY was lost, by reading all endpoints with pending deliveries. */
export function startSweeper({ db, clock, lanes, log, everyMs, onSwept, probe }: SweepSettings): Sweeper {
  let running: Promise<void> | undefined
  let isRequested = false
  let isStopped = false
  let debounceTimer: NodeJS.Timeout | undefined
  let next: NodeJS.Timeout | undefined

  async function sweep(): Promise<void> {
    try {
      await sweepAllLanes()
    } catch (error) {
      log.error({ err: loggableError(error) }, 'delivery sweep failed')
    }
    onSwept()
  }

  async function sweepAllLanes(): Promise<void> {
    let after = ''
    for (let seen = 0; seen < MAXIMUM_LANES && !isStopped; seen += SWEEP_PAGE_SIZE) {
      const found = await sweepLanes(db, after)
      const now = clock.now()
      for (const { webhook_endpoint_id: endpointId, next_attempt_at: at, is_active } of found) {
        if (!is_active) continue
        if (at <= now) lanes.wake(endpointId)
        else lanes.schedule(endpointId, Date.parse(at))
      }
      onSwept()
      after = found.at(-1)?.webhook_endpoint_id ?? ''
      if (found.length < SWEEP_PAGE_SIZE) return
    }
  }

  function start(): void {
    clearTimeout(next)
    if (isStopped) return
    if (running) {
      isRequested = true
      return
    }
    const startedAt = clock.monotonicMilliseconds()
    running = sweep().finally(() => {
      running = undefined
      const duration = clock.monotonicMilliseconds() - startedAt
      const pause = Math.min(Math.max(everyMs, duration * SWEEP_PAUSE_FACTOR), MAXIMUM_SWEEP_PAUSE_MS)
      next = setTimeout(start, pause)
      if (isRequested) {
        isRequested = false
        start()
      }
    })
  }

  const probing = setInterval(() => void probe(), everyMs)
  start()

  return {
    requestSweep() {
      debounceTimer ??= setTimeout(() => {
        debounceTimer = undefined
        start()
      }, SWEEP_DEBOUNCE_MS)
    },
    async [Symbol.asyncDispose]() {
      isStopped = true
      clearInterval(probing)
      clearTimeout(next)
      clearTimeout(debounceTimer)
      await running
      clearTimeout(next)
    },
  }
}
