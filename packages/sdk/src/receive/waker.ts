import { pause, withJitter } from '../pause-and-backoff.ts'

/** Lets one loop wait for a timeout, for work, or for the abort. */
export interface Waker {
  wake(): void
  /** Resolves when woken (also by an earlier `wake` that no wait consumed), after the time, or at the abort. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createWaker(): Waker {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(),
    async wait(milliseconds, signal) {
      await pause(milliseconds, signal, woken.signal)
      woken = new AbortController()
    },
  }
}

/** Runs at once and then at an interval. A failure is reported, and the next run follows as usual. */
export async function repeatEvery(
  intervalMs: number,
  jitter: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(onFailure)
    await pause(withJitter(intervalMs, jitter), signal)
  }
}
