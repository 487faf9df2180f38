import { ExchangeError } from '../errors.ts'
import { backoffMs, pause } from '../pause-and-backoff.ts'
import { BACKOFF_JITTER, type ConnectionLimits } from './connection-limits.ts'

/** Retries errors that are marked retryable. Every attempt must send the same idempotency key and the same bytes. */
export async function withRetries<T>(
  limits: ConnectionLimits,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    if (signal?.aborted) throw aborted(signal)
    try {
      return await attempt()
    } catch (error) {
      if (tried >= limits.attempts || !(error instanceof ExchangeError) || !error.retryable) throw error
      // A certificate does not change within a call.
      if (error.code === 'exchange_untrusted') throw error
      const delay = retryDelayMs(error, tried, limits)
      if (delay === undefined) throw error
      await pause(delay, signal)
    }
  }
}

/** Never shorter than Retry-After. Undefined if Retry-After exceeds the limit. */
function retryDelayMs(error: ExchangeError, tried: number, limits: ConnectionLimits): number | undefined {
  const retryAfterMs = Number(error.details['retryAfterSeconds'] ?? 0) * 1_000
  if (retryAfterMs > limits.maximumRetryAfterMs) return undefined
  const { firstBackoffMs: firstMs, maximumBackoffMs: longestMs } = limits
  return retryAfterMs + backoffMs(tried, { firstMs, longestMs, jitter: BACKOFF_JITTER })
}

export function aborted(signal: AbortSignal | undefined): ExchangeError {
  return new ExchangeError('aborted', { cause: signal?.reason })
}
