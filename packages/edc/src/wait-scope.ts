import { setTimeout as delay } from 'node:timers/promises'
import { ConnectorError } from './connector-error.ts'
import { LIMITS } from './limits.ts'
import type { Progress, WaitOptions } from './port.ts'

/** Time as the connector side sees it; tests move it. */
export interface ConnectorClock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: ConnectorClock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
}

/** One call of the port: its deadline, who may abort it, and where it reports. */
export interface WaitScope {
  readonly clock: ConnectorClock
  readonly signal: AbortSignal
  report(progress: Progress): void
  /** Milliseconds that are left; never below zero. */
  left(): number
  /** Sleeps, but not past the deadline. False when there is no time left. */
  pause(ms: number): Promise<boolean>
  throwIfAborted(): void
}

export function waitScope(clock: ConnectorClock, options: WaitOptions = {}): WaitScope {
  const { deadlineMs = LIMITS.callMs, onProgress } = options
  if (!(deadlineMs > 0)) throw new ConnectorError('invalid_input', { what: 'deadlineMs must be positive.' })
  const signal = options.signal ?? new AbortController().signal
  const end = clock.now() + deadlineMs
  const left = () => Math.max(0, end - clock.now())
  const throwIfAborted = () => {
    if (signal.aborted) throw new ConnectorError('aborted')
  }
  throwIfAborted()
  return {
    clock,
    signal,
    left,
    throwIfAborted,
    report: (progress) => {
      onProgress?.(progress)
      throwIfAborted()
    },
    pause: async (ms) => {
      const time = Math.min(ms, left())
      if (time > 0) await clock.sleep(time, signal)
      throwIfAborted()
      return left() > 0
    },
  }
}

/** Longer from try to try, and never at the same moment as everyone else. */
export function backoff(
  attempt: number,
  minimum = LIMITS.pollMinimumMs,
  maximum = LIMITS.pollMaximumMs,
): number {
  const base = Math.min(maximum, minimum * 1.6 ** attempt)
  return base * (1 + Math.random() * 0.25)
}
