import { PerformanceObserver } from 'node:perf_hooks'
import { sharedTime } from '../processes/shared-clock.ts'

/** A time, by the shared clock. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/** When a process could not answer anybody. */
export interface Stalls {
  /** The event loop did not run. */
  readonly blocked: readonly Interval[]
  /** Garbage collection, most of which blocks the event loop. */
  readonly collecting: readonly Interval[]
}

export interface StallRecorder {
  /** What happened since the last call. */
  take(): Stalls
  stop(): void
}

const TIMER_MS = 2
/** A timer that is as late as this: something blocked the event loop. */
const LATE_MS = 4

export function recordStalls(): StallRecorder {
  let blocked: Interval[] = []
  let collecting: Interval[] = []
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const expected = last + TIMER_MS
    if (now - expected >= LATE_MS) blocked.push({ from: sharedTime(expected), to: sharedTime(now) })
    last = now
  }, TIMER_MS)
  timer.unref()
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      collecting.push({ from: sharedTime(startTime), to: sharedTime(startTime + duration) })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    take() {
      const stalls = { blocked, collecting }
      ;[blocked, collecting] = [[], []]
      return stalls
    },
    stop() {
      clearInterval(timer)
      observer.disconnect()
    },
  }
}
