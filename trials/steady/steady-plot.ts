import { plotPanels, type Panel } from '../../bench/src/report/line-panels.ts'
import { medianP99 } from './steady-checks.ts'
import type { Day } from './steady-day.ts'

/** One slow day would otherwise flatten the line of all others. */
const VISIBLE_MEDIANS = 5

/** Size and latency by simulated day, as an SVG document. */
export function plotDays(days: readonly Day[]): string {
  const megabytes = (member: 'limitedBytes' | 'evidenceBytes') => days.map((day) => day[member] / 1e6)
  const p99 = days.map((day) => day.p99)
  const panels: Panel[] = [
    { title: 'MB of tables that retention limits', lines: [{ name: '', values: megabytes('limitedBytes') }] },
    {
      title: 'MB of all other tables, mostly evidence, which is never deleted',
      lines: [{ name: '', values: megabytes('evidenceBytes') }],
    },
    {
      title: 'Milliseconds to accept a package',
      highest: VISIBLE_MEDIANS * medianP99(days),
      lines: [
        { name: `p99, at most ${Math.max(...p99).toFixed(0)}`, values: p99 },
        { name: 'p50', values: days.map(({ p50 }) => p50) },
      ],
    },
    {
      title: 'Percent of the CPU that the host of this machine took away',
      lines: [{ name: '', values: days.map(({ stolen }) => stolen * 100) }],
    },
    {
      title: 'Partitions',
      lines: [
        { name: 'attached', values: days.map(({ partitions }) => partitions) },
        { name: 'dropped on that day', values: days.map(({ dropped }) => dropped) },
      ],
    },
  ]
  return plotPanels(panels, {
    about: 'Steady load by simulated day',
    foot: `day 1 to ${days.length}`,
  })
}
