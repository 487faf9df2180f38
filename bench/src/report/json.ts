import type { AreaResult, Table } from '../area.ts'
import { median } from '../statistics.ts'
import type { Machine } from './machine.ts'

/** The result as data: ratios and figures by id. */
export function toJson(results: readonly AreaResult[], machine: Machine): object {
  const ratios = results.flatMap((result) => result.ratios ?? [])
  const intervals = ratios.filter(({ low = Number.NaN }) => Number.isFinite(low))
  const figures = results.flatMap(({ tables }) => tables.flatMap(figuresOf))
  return {
    ratios: Object.fromEntries(ratios.map(({ id, value }) => [id, rounded(value)])),
    intervals: Object.fromEntries(
      intervals.map(({ id, low = Number.NaN, high = Number.NaN }) => [id, [rounded(low), rounded(high)]]),
    ),
    figures: Object.fromEntries(figures.map(([id, values]) => [id, rounded(median(values))])),
    machine,
  }
}

/** The measurements of a table by the ids of row and column. */
export function figuresOf({ columns, rows }: Table): [id: string, values: readonly number[]][] {
  return rows.flatMap(({ id, values }) =>
    columns.map((column, i): [string, readonly number[]] => [
      column.id === '' ? id : `${id}_${column.id}`,
      values[i] ?? [],
    ]),
  )
}

/** Four significant digits; JSON has no NaN. */
export function rounded(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : null
}
