import type { AreaResult, Ratio, Table } from '../area.ts'
import { formatNumber, formatValue } from './units.ts'

/** The result of an area for people. */
export function formatResult({ title, figures, tables = [], notes }: AreaResult): string {
  const listed = figures.filter(({ isInTable }) => !isInTable)
  const rows = listed.map(({ label, value, unit, spread, reference }) => [
    label,
    formatValue(value, unit),
    spread ? `${formatNumber(spread.lowest)} – ${formatNumber(spread.highest)}` : '',
    reference ? formatNumber(value / reference.value) : '',
    reference?.name ?? '',
  ])
  const main = { title, head: ['', 'median', 'from – to', 'ratio', 'to'], rows }
  const parts = [...(listed.length > 0 ? [main] : []), ...tables].map(formatTable)
  return [...parts, ...notes.map((note) => `${note}\n`)].join('\n')
}

const ABOUT_ERRORS =
  'A ratio with ± is the geometric mean over rounds, with its standard error: a disturbance of a round affects both sides.'

/** The ratios with their targets. */
export function formatRatios(ratios: readonly Ratio[]): string {
  const rows = ratios.map(({ label, value, error, wanted, excuse }) => [
    label,
    formatNumber(value),
    error === undefined ? '' : formatNumber(error),
    wanted ? `at ${wanted.at} ${formatNumber(wanted.must)}` : '',
    wanted?.goal === undefined ? '' : formatNumber(wanted.goal),
    wanted ? judge(value, wanted, excuse) : '',
  ])
  const table = formatTable({ title: 'Ratios', head: ['', 'here', '±', 'wanted', 'goal', ''], rows })
  return ratios.some(({ error }) => error !== undefined) ? `${table}\n${ABOUT_ERRORS}\n` : table
}

function judge(value: number, { at, must, goal }: NonNullable<Ratio['wanted']>, excuse = 'missed'): string {
  const reaches = (limit: number) => (at === 'least' ? value >= limit : value <= limit)
  // A rate of zero on an overloaded machine.
  if (!Number.isFinite(value)) return 'not measured'
  if (!reaches(must)) return excuse
  return goal !== undefined && reaches(goal) ? 'goal reached' : 'reached'
}

export function formatTable({ title, head, rows }: Table): string {
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
