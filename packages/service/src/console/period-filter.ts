import type { Field } from '@agent-exchange/web'
import type { WatchCall } from './console-page.ts'

const PERIODS = [
  { value: '1h', label: 'last hour', hours: 1 },
  { value: '24h', label: 'last 24 hours', hours: 24 },
  { value: '7d', label: 'last 7 days', hours: 168 },
] as const
const HOUR_MS = 3_600_000

/** The filter "since when" of a list, as a choice of periods. */
export function periodField({ query }: WatchCall): Field {
  const value = query.get('period')
  return {
    kind: 'select',
    name: 'period',
    label: 'Created',
    isRequired: true,
    options: [
      { value: '', label: 'at any time' },
      ...PERIODS.map(({ value: name, label }) => ({ value: name, label })),
    ],
    ...(value !== undefined && { value }),
  }
}

/** The start of the period. Links to further pages carry it as `since`, because their cursor belongs to one start. */
export function sinceOf({ query, now }: WatchCall): string | undefined {
  const since = query.get('since')
  if (since !== undefined) return since
  const period = PERIODS.find(({ value }) => value === query.get('period'))
  return period && new Date(now.getTime() - period.hours * HOUR_MS).toISOString()
}
