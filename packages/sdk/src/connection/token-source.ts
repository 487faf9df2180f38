import { ExchangeError } from '../errors.ts'
import { RENEW_AFTER_SHARE } from './connection-limits.ts'
import { aborted } from './retries.ts'

export interface IssuedToken {
  readonly token: string
  readonly seconds: number
}

export interface TokenSource {
  /** A valid token; requests a new one if needed. */
  get(signal?: AbortSignal): Promise<string>
  /** Discards a token that the exchange refused. */
  reject(token: string): void
}

interface Held {
  readonly token: string
  readonly renewAt: number
  readonly expiresAt: number
}

/** Caches one token and renews it before it expires. Concurrent callers share one renewal. */
export function createTokenSource(issue: () => Promise<IssuedToken>, now: () => Date): TokenSource {
  let held: Held | undefined
  let renewal: Promise<Held> | undefined

  async function renew(): Promise<Held> {
    // The lifetime starts before the response arrives.
    const asked = now().getTime()
    try {
      const { token, seconds } = await issue()
      const life = seconds * 1_000
      held = { token, renewAt: asked + life * RENEW_AFTER_SHARE, expiresAt: asked + life }
      return held
    } catch (error) {
      const old = held
      const mayWait = error instanceof ExchangeError && error.retryable
      if (old && mayWait && now().getTime() < old.expiresAt) return old
      throw error
    } finally {
      renewal = undefined
    }
  }

  return {
    async get(signal) {
      if (held && now().getTime() < held.renewAt) return held.token
      renewal ??= renew()
      return (await unlessAborted(renewal, signal)).token
    },
    reject(token) {
      if (held?.token === token) held = undefined
    },
  }
}

/** An abort does not cancel the renewal: other callers wait for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal))
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
