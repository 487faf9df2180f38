import { setTimeout as sleep } from 'node:timers/promises'
import type { Transport, WireAnswer } from './wire.ts'

export interface Politeness {
  /** Requests that may start within one second. */
  readonly requestsPerSecond: number
  readonly wait?: (milliseconds: number) => Promise<unknown>
  readonly now?: () => number
}

/** Repetitions of one request that was answered by 429, or by 503 with Retry-After. */
const MAXIMUM_REPETITIONS = 3
const MAXIMUM_WAIT_MS = 30_000
const DEFAULT_WAIT_MS = 1_000

/** Limits the pace, and waits as long as the service asks before it repeats a request. */
export function politeTransport(
  send: Transport,
  { requestsPerSecond, wait = sleep, now = Date.now }: Politeness,
): Transport {
  const interval = 1_000 / requestsPerSecond
  let next = 0
  const paced: Transport = async (request) => {
    const time = now()
    const start = Math.max(time, next)
    next = start + interval
    if (start > time) await wait(start - time)
    return send(request)
  }
  return async (request) => {
    for (let repetitions = 0; ; repetitions++) {
      const answer = await paced(request)
      const delay = delayOf(answer, now())
      if (delay === undefined || repetitions === MAXIMUM_REPETITIONS) return answer
      await wait(delay)
    }
  }
}

/** RFC 9110 section 10.2.3: seconds or a date. Undefined if the request is not to be repeated. */
function delayOf({ status, headers }: WireAnswer, now: number): number | undefined {
  const given = headers['retry-after']
  if (status !== 429 && (status !== 503 || given === undefined)) return undefined
  if (given === undefined) return DEFAULT_WAIT_MS
  const delay = /^\d+$/u.test(given) ? Number(given) * 1_000 : Date.parse(given) - now
  if (Number.isNaN(delay)) return DEFAULT_WAIT_MS
  return Math.min(Math.max(delay, 0), MAXIMUM_WAIT_MS)
}
