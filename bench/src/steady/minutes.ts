import type { MemberColumn, Ratio } from '../area.ts'
import { plotPanels, type Panel } from '../report/line-panels.ts'
import { median } from '../statistics.ts'

/** One step of the load, about a minute. */
export interface Minute {
  readonly perSecond: number
  /** From a request that submits a package to its response. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Resident, of the processes of the service. */
  readonly megabytes: number
  readonly databaseMegabytes: number
  /** Rows that retention removed meanwhile. */
  readonly removed: number
}

export const MINUTE: readonly MemberColumn<Minute>[] = [
  { member: 'perSecond', id: 'per_second', head: 'packages/s' },
  { member: 'p50Ms', id: 'p50_ms', head: 'p50 ms' },
  { member: 'p99Ms', id: 'p99_ms', head: 'p99 ms' },
  { member: 'megabytes', id: 'memory_mb', head: 'memory MB' },
  { member: 'databaseMegabytes', id: 'database_mb', head: 'database MB' },
  { member: 'removed', id: 'removed', head: 'rows removed' },
]

/** Of 30 minutes, five: a warm-up, the first window after it, and the last one. */
const WINDOW_SHARE = 1 / 6
/** Warm-up, first and last window must not overlap. */
export const LEAST_MINUTES = 3
/** One slow minute would otherwise flatten the line of all others. */
const VISIBLE_MEDIANS = 5

export interface Windows {
  readonly first: readonly Minute[]
  readonly last: readonly Minute[]
}

/** The first minutes after the warm-up, and the last ones. */
export function windowsOf(minutes: readonly Minute[]): Windows {
  if (minutes.length < LEAST_MINUTES) throw new Error(`at least ${LEAST_MINUTES} minutes are compared`)
  const size = Math.max(1, Math.floor(minutes.length * WINDOW_SHARE))
  return { first: minutes.slice(size, 2 * size), last: minutes.slice(-size) }
}

export function ratiosOf(minutes: readonly Minute[]): Ratio[] {
  const { first, last } = windowsOf(minutes)
  const ratio = (member: keyof Minute) =>
    median(last.map((each) => each[member])) / median(first.map((each) => each[member]))
  const label = (what: string) => `${what}, last ${last.length} min to first ${first.length} after warm-up`
  return [
    {
      id: 'steady_throughput',
      label: label('packages/s'),
      value: ratio('perSecond'),
      wanted: { at: 'least', must: 0.95 },
    },
    { id: 'steady_p99', label: label('p99'), value: ratio('p99Ms'), wanted: { at: 'most', must: 1.2 } },
    { id: 'steady_memory', label: label('memory'), value: ratio('megabytes') },
  ]
}

export function plotMinutes(minutes: readonly Minute[]): string {
  const each = (member: keyof Minute) => minutes.map((minute) => minute[member])
  const p99 = each('p99Ms')
  const panels: Panel[] = [
    { title: 'Packages accepted a second', lines: [{ name: '', values: each('perSecond') }] },
    {
      title: 'Milliseconds to accept a package',
      highest: VISIBLE_MEDIANS * median(p99),
      lines: [
        { name: `p99, at most ${Math.max(...p99).toFixed(0)}`, values: p99 },
        { name: 'p50', values: each('p50Ms') },
      ],
    },
    { title: 'Resident memory of the service, MB', lines: [{ name: '', values: each('megabytes') }] },
    { title: 'Database on the disk, MB', lines: [{ name: '', values: each('databaseMegabytes') }] },
  ]
  return plotPanels(panels, { about: 'Steady full load by minute', foot: `minute 1 to ${minutes.length}` })
}
