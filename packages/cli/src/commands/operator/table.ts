import { visible } from '../../visible.ts'

/**
 * Text of a cell: empty for nothing, the first line of a text, JSON for anything else. Agents wrote some of it, so
 * terminal control sequences are removed.
 */
function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const [first = '', ...others] = text.trimEnd().split('\n')
  const line = others.length > 0 ? `${first} …` : first
  return visible(line)
}

const GAP = '  '
const INDENT = '    '

/** Wraps at the width of the terminal. For programs, one line a row unless COLUMNS is set. */
function lineWidth(): number {
  return process.stdout.columns || Number(process.env['COLUMNS']) || Infinity
}

/**
 * Aligned columns under their names. Columns that do not fit continue on an indented line. The last column is not
 * padded, so that copying it copies no trailing blanks.
 */
export function table(
  rows: readonly object[],
  columns: readonly string[],
  { width = lineWidth() }: { readonly width?: number } = {},
): string {
  const cells = [columns.map((column) => column.toUpperCase())]
  for (const row of rows) cells.push(columns.map((column) => cell(Reflect.get(row, column))))
  const widths = columns.map((_, index) => Math.max(...cells.map((texts) => (texts[index] ?? '').length)))
  const groups = wrapColumns(widths, width)
  return cells
    .flatMap((texts) => groups.map((group, line) => formatLine(texts, group, widths, line)))
    .join('\n')
}

/** Column indexes for each line of a row. A column that is too wide gets its own line. */
function wrapColumns(widths: readonly number[], maximum: number): number[][] {
  const lines: number[][] = [[]]
  let used = 0
  for (const [index, width] of widths.entries()) {
    const line = lines.at(-1) ?? []
    if (line.length > 0 && used + GAP.length + width > maximum) {
      lines.push([index])
      used = INDENT.length + width
    } else {
      used += (line.length > 0 ? GAP.length : 0) + width
      line.push(index)
    }
  }
  return lines
}

function formatLine(
  texts: readonly string[],
  columns: readonly number[],
  widths: readonly number[],
  line: number,
): string {
  const padded = columns.map((index) => (texts[index] ?? '').padEnd(widths[index] ?? 0))
  return ((line > 0 ? INDENT : '') + padded.join(GAP)).trimEnd()
}

/** Names and values of one object, a line each. */
export function description(thing: object): string {
  const members = Object.entries(thing).filter(([, value]) => cell(value) !== '')
  const width = Math.max(0, ...members.map(([name]) => name.length))
  return members.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n')
}
