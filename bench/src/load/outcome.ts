import { percentiles } from '../statistics.ts'

/** The result of one run. */
export interface Outcome {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** All requests, including those outside the measured time. */
  readonly requests: number
}

export function outcomeOf(latencies: readonly number[], milliseconds: number, requests: number): Outcome {
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(latencies, [0.5, 0.99])
  return { perSecond: (latencies.length * 1_000) / milliseconds, p50Ms, p99Ms, requests }
}
