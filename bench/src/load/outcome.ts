import { percentiles } from '../statistics.ts'

/** What one run of load came to. */
export interface Outcome {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** All requests, also those before and after the time that counts. */
  readonly requests: number
}

export function outcomeOf(latencies: readonly number[], milliseconds: number, requests: number): Outcome {
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(latencies, [0.5, 0.99])
  return { perSecond: (latencies.length * 1_000) / milliseconds, p50Ms, p99Ms, requests }
}
