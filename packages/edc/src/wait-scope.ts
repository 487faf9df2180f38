import { backoffMs, pause } from '@agent-exchange/sdk/internal'
import type { Progress, WaitOptions } from '@agent-exchange/sdk'
import { ConnectorError } from './connector-error.ts'
import { LIMITS } from './connector-limits.ts'

/** The clock of a connector; tests replace it. */
export interface ConnectorClock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: ConnectorClock = {
  now: () => Date.now(),
  sleep: (ms, signal) => pause(ms, signal),
}

/** Deadline, cancellation and progress of one call. */
export interface WaitScope {
  readonly clock: ConnectorClock
  readonly signal: AbortSignal
  report(progress: Progress): void
  /** Milliseconds until the deadline; never negative. */
  left(): number
  /** Sleeps, but not past the deadline. False at the deadline. */
  pause(ms: number): Promise<boolean>
  /** Sleeps before the next attempt, counted from 0. False at the deadline. */
  backOff(attempt: number): Promise<boolean>
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
  const pauseUntilDeadline = async (ms: number) => {
    const time = Math.min(ms, left())
    if (time > 0) await clock.sleep(time, signal)
    throwIfAborted()
    return left() > 0
  }
  return {
    clock,
    signal,
    left,
    throwIfAborted,
    report: (progress) => {
      onProgress?.(progress)
      throwIfAborted()
    },
    pause: pauseUntilDeadline,
    backOff: (attempt) => pauseUntilDeadline(backoffMs(attempt + 1, LIMITS.backoff)),
  }
}
