/** Pauses between attempts that grow with each failure. Times in milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
  /** Largest random share that is added to a pause, so that agents do not retry in step. */
  readonly jitter: number
}

/** Largest exponent: keeps the product finite for any number of failures. */
const MAXIMUM_DOUBLINGS = 30

/** The pause after the given number of failures, counted from 1: doubles from `firstMs` up to `longestMs`. */
export function backoffMs(failures: number, { firstMs, longestMs, jitter }: Backoff): number {
  const doublings = Math.min(failures - 1, MAXIMUM_DOUBLINGS)
  return withJitter(Math.min(longestMs, firstMs * 2 ** doublings), jitter)
}

/** Jitter only lengthens: a minimum, such as Retry-After, is never undercut. */
export function withJitter(milliseconds: number, jitter: number): number {
  return milliseconds * (1 + Math.random() * jitter)
}

/** Resolves after the time or at the first abort. Never rejects: the caller reads its signal. */
export function pause(milliseconds: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  if (signals.some((signal) => signal?.aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    for (const signal of signals) signal?.addEventListener('abort', end)
  })
}
