/** Lets one loop wait for time to pass, for something to do, or for the end. */
export interface Waker {
  wake(): void
  /** Returns when woken (also by an earlier call that nobody waited for), after the time, or at the abort. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createWaker(): Waker {
  let isWoken = false
  let wakeSleeper: (() => void) | undefined
  return {
    wake() {
      isWoken = true
      wakeSleeper?.()
    },
    async wait(milliseconds, signal) {
      if (!isWoken && !signal.aborted) await pause(milliseconds, signal, (wake) => (wakeSleeper = wake))
      wakeSleeper = undefined
      isWoken = false
    },
  }
}

/** Waits for the time or the abort, whichever comes first; never throws. */
export function pause(
  milliseconds: number,
  signal: AbortSignal,
  onStart: (wake: () => void) => void = () => undefined,
): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done)
    onStart(done)
  })
}

/** A wait that doubles with each failure up to the longest, a part of it left to chance. */
export function backoff(failures: number, firstMs: number, longestMs: number, jitter: number): number {
  return spread(Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30)), jitter)
}

/** Only ever longer, so that a minimum stays one. */
export function spread(milliseconds: number, jitter: number): number {
  return milliseconds * (1 + Math.random() * jitter)
}

/** Does something at once and at an interval; a failure is told and waits for the next time. */
export async function regularly(
  intervalMs: number,
  jitter: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(onFailure)
    await pause(spread(intervalMs, jitter), signal)
  }
}
