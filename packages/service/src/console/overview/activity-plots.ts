import type { LinePlot } from '@agent-exchange/web'
import type { ActivityPoint } from '../../operator/routes/overview.ts'

const MINUTES = { hour: 2, day: 30 } as const
const TIME_OF_DAY = { start: 11, end: 16 }

const milliseconds = (value: number) => `${value.toLocaleString('en')} ms`

/** Counts are shown per minute, so that hour and day can be compared. */
export function activityPlots(points: readonly ActivityPoint[], period: 'hour' | 'day'): LinePlot[] {
  const labels = points.map(({ at }) => at.slice(TIME_OF_DAY.start, TIME_OF_DAY.end))
  const rate = (value: (point: ActivityPoint) => number) =>
    points.map((point) => value(point) / MINUTES[period])
  return [
    {
      title: 'Packages',
      unit: 'accepted per minute, times in UTC',
      labels,
      series: [{ name: 'accepted', values: rate((point) => point.packages_accepted) }],
    },
    {
      title: 'Deliveries',
      unit: 'attempts per minute',
      labels,
      series: [
        { name: 'delivered', values: rate((point) => point.deliveries_delivered) },
        { name: 'to be retried', values: rate((point) => point.deliveries_retried) },
        { name: 'failed', values: rate((point) => point.deliveries_failed) },
        { name: 'given up', values: rate((point) => point.deliveries_dead) },
      ],
    },
    {
      title: 'Problems',
      unit: 'answers per minute',
      labels,
      series: [
        { name: 'client errors (4xx)', values: rate((point) => point.problems_4xx) },
        { name: 'server errors (5xx)', values: rate((point) => point.problems_5xx) },
      ],
    },
    {
      title: 'Latency',
      unit: 'of acceptance and of delivery attempts',
      labels,
      format: milliseconds,
      series: [
        { name: 'accept, median', values: points.map((point) => point.acceptance_p50) },
        { name: 'accept, 99th percentile', values: points.map((point) => point.acceptance_p99) },
        { name: 'deliver, median', values: points.map((point) => point.delivery_p50) },
        { name: 'deliver, 99th percentile', values: points.map((point) => point.delivery_p99) },
      ],
    },
  ]
}
