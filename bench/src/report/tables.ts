import type { AreaResult, Ratio, Table, Wanted } from '../area.ts'
import { median } from '../statistics.ts'
import { formatNumber } from './format-number.ts'

/** The result of an area for people. */
export function formatResult({ tables, notes }: AreaResult): string {
  return [...tables.map(formatMeasured), ...notes.map((note) => `${note}\n`)].join('\n')
}

/** Medians; of the first column also the lowest and the highest value. */
function formatMeasured({ title, columns, rows }: Table): string {
  const hasSpread = rows.some(({ values: [first = []] }) => first.length > 1)
  const [first, ...others] = columns.map(({ head }) => head)
  const head = ['', first ?? '', ...(hasSpread ? ['from – to'] : []), ...others]
  const cells = rows.map(({ label, values }) => {
    const [middle, ...rest] = values.map((list) => (list.length === 0 ? '' : formatNumber(median(list))))
    return [label, middle ?? '', ...(hasSpread ? [spreadOf(values[0] ?? [])] : []), ...rest]
  })
  return formatTable(title, head, cells)
}

function spreadOf(values: readonly number[]): string {
  if (values.length < 2) return ''
  return `${formatNumber(Math.min(...values))} – ${formatNumber(Math.max(...values))}`
}

/** The ratios with their intervals and targets. */
export function formatRatios(ratios: readonly Ratio[]): string {
  const rows = ratios.map(({ label, value, low, high, wanted, excuse }) => [
    label,
    formatNumber(value),
    low === undefined || high === undefined || Number.isNaN(low)
      ? ''
      : `${formatNumber(low)} – ${formatNumber(high)}`,
    formatWanted(wanted),
    wanted?.goal === undefined ? '' : formatNumber(wanted.goal),
    judge(value, wanted, excuse),
  ])
  const table = formatTable('Ratios', ['', 'here', '95% interval', 'wanted', 'goal', ''], rows)
  const about =
    'A ratio with an interval is the geometric mean over rounds: a disturbance of a round affects both sides.'
  return ratios.some(({ low = Number.NaN }) => Number.isFinite(low)) ? `${table}\n${about}\n` : table
}

export function formatWanted(wanted: Wanted | undefined): string {
  return wanted ? `at ${wanted.at} ${formatNumber(wanted.must)}` : ''
}

/** Whether a value reaches its target, if it has one. */
export function judge(value: number, wanted: Wanted | undefined, excuse = 'missed'): string {
  if (!wanted) return ''
  const { at, must, goal } = wanted
  const reaches = (limit: number) => (at === 'least' ? value >= limit : value <= limit)
  // A rate of zero on an overloaded machine.
  if (!Number.isFinite(value)) return 'not measured'
  if (!reaches(must)) return excuse
  return goal !== undefined && reaches(goal) ? 'goal reached' : 'reached'
}

export function formatTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  // Numbers to the right, words to the left.
  const isNumber = head.map((_, i) => rows.every((row) => i > 0 && /^(?:[-\d–]|$)/.test(row[i] ?? '')))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  const rule = '─'.repeat(widths.reduce((sum, width) => sum + width + 2, -2))
  return [title, rule, line(head), ...rows.map(line), rule, ''].join('\n')
}
