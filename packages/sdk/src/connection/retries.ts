import { ExchangeError } from '../errors.ts'
import type { ConnectionLimits } from './limits.ts'

/**
 * Tries again where the error says that it may help, with growing pauses. The attempt must be the same every
 * time: same idempotency key, same bytes.
 */
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
      const delay = pauseMs(error, tried, limits)
      if (delay === undefined) throw error
      await pause(delay, signal)
    }
  }
}

/** Random, so that many agents do not come back at once; never before the time that the exchange asked for. */
function pauseMs(error: ExchangeError, tried: number, limits: ConnectionLimits): number | undefined {
  const asked = Number(error.details['retryAfterSeconds'] ?? 0) * 1_000
  if (asked > limits.maximumRetryAfterMs) return undefined
  const full = Math.min(limits.firstBackoffMs * 2 ** (tried - 1), limits.maximumBackoffMs)
  const jittered = full / 2 + (Math.random() * full) / 2
  return asked > 0 ? asked + jittered : jittered
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    const stop = () => {
      clearTimeout(timer)
      reject(aborted(signal))
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}

export function aborted(signal: AbortSignal | undefined): ExchangeError {
  return new ExchangeError('aborted', { cause: signal?.reason })
}
