import type { AreaResult } from './area.ts'

/** The result as a table for people. */
export function formatTable({ title, figures, notes }: AreaResult): string {
  const rows = figures.map(({ label, perSecond, reference }) => [
    label,
    Math.round(perSecond).toLocaleString('en'),
    (1e6 / perSecond).toFixed(1),
    reference === undefined ? '' : (perSecond / reference.perSecond).toFixed(2),
    reference?.name ?? '',
  ])
  const head = ['', 'per second', 'µs', 'ratio', 'to']
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 || i === 4 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  const rule = '─'.repeat(widths.reduce((sum, width) => sum + width + 2, -2))
  return [title, rule, line(head), ...rows.map(line), rule, ...notes, ''].join('\n')
}

/** The result as data: every figure per second, and every ratio, by id. */
export function toJson(results: readonly AreaResult[]): object {
  const figures = results.flatMap((result) => result.figures)
  return {
    ratios: Object.fromEntries(
      figures.flatMap(({ id, perSecond, reference }) =>
        reference === undefined ? [] : [[id, Number((perSecond / reference.perSecond).toFixed(3))]],
      ),
    ),
    figures: Object.fromEntries(figures.map(({ id, perSecond }) => [id, Math.round(perSecond)])),
  }
}
