import { visible } from '../../visible.ts'

/**
 * What a cell shows: nothing for nothing, the first line of a text, everything else as JSON. Some of it was written
 * by agents, so nothing that a terminal would obey gets through.
 */
function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const [first = '', ...others] = text.trimEnd().split('\n')
  const line = others.length > 0 ? `${first} …` : first
  return visible(line)
}

/** Aligned columns under their names; the last one is not padded, so that copying a line takes no blanks along. */
export function table(rows: readonly object[], columns: readonly string[]): string {
  const lines = [columns.map((column) => column.toUpperCase())]
  for (const row of rows) lines.push(columns.map((column) => cell(Reflect.get(row, column))))
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)))
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values of one thing, a line each. */
export function description(thing: object): string {
  const members = Object.entries(thing).filter(([, value]) => cell(value) !== '')
  const width = Math.max(0, ...members.map(([name]) => name.length))
  return members.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n')
}
