import { secondsAfter } from '@agent-exchange/server/clock'
import { COUNTED, LATENCY_BOUNDS, type Counted, type Timed } from '../../kernel/activity.ts'
import type { ActivitySum } from './activity-store.ts'

/** One interval. Latencies are in milliseconds; null where nothing was measured. */
export type ActivityPoint = Readonly<Record<Counted, number>> &
  Readonly<Record<`${Timed}_p50` | `${Timed}_p99`, number | null>> & { readonly at: string }

export interface Period {
  readonly since: string
  readonly stepSeconds: number
  readonly points: number
}

export function toSeries(
  sums: readonly ActivitySum[],
  { since, stepSeconds, points }: Period,
): ActivityPoint[] {
  const byTime = Map.groupBy(sums, ({ at }) => Date.parse(at))
  return Array.from({ length: points }, (_, index) => {
    const at = secondsAfter(since, index * stepSeconds)
    return toPoint(at, byTime.get(Date.parse(at)) ?? [])
  })
}

function toPoint(at: string, sums: readonly ActivitySum[]): ActivityPoint {
  const count = (metric: Counted) =>
    sums.filter((sum) => sum.metric === metric).reduce((total, sum) => total + sum.count, 0)
  const counters = Object.fromEntries(COUNTED.map((metric) => [metric, count(metric)]))
  return {
    at,
    ...(counters as Record<Counted, number>),
    acceptance_p50: percentile(sums, 'acceptance', 0.5),
    acceptance_p99: percentile(sums, 'acceptance', 0.99),
    delivery_p50: percentile(sums, 'delivery', 0.5),
    delivery_p99: percentile(sums, 'delivery', 0.99),
  }
}

/** Interpolated in the bucket, as Prometheus does. In the last bucket, which is open, its lower bound. */
export function percentile(sums: readonly ActivitySum[], metric: Timed, share: number): number | null {
  const buckets = sums.filter((sum) => sum.metric === metric).toSorted((a, b) => a.bucket - b.bucket)
  const total = buckets.reduce((all, { count }) => all + count, 0)
  if (total === 0) return null
  let before = 0
  for (const { bucket, count } of buckets) {
    if (before + count >= share * total) {
      const lower = LATENCY_BOUNDS[bucket - 1] ?? 0
      const upper = LATENCY_BOUNDS[bucket] ?? lower
      return Math.round((lower + ((upper - lower) * (share * total - before)) / count) * 10) / 10
    }
    before += count
  }
  return LATENCY_BOUNDS.at(-1) ?? null
}
