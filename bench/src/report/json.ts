import type { AreaResult } from '../area.ts'
import type { Machine } from './machine.ts'

/** The result as data: ratios and figures by id. */
export function toJson(results: readonly AreaResult[], machine: Machine): object {
  const figures = results.flatMap((result) => result.figures)
  return {
    ratios: Object.fromEntries(results.flatMap(ratiosOf).map(({ id, value }) => [id, rounded(value)])),
    figures: Object.fromEntries(figures.map(({ id, value }) => [id, rounded(value)])),
    machine,
  }
}

/** An area without ratios has one for each figure with a reference, under the id of the figure. */
function ratiosOf({ ratios, figures }: AreaResult): { id: string; value: number }[] {
  if (ratios) return [...ratios]
  return figures.flatMap(({ id, value, reference }) =>
    reference === undefined ? [] : [{ id, value: value / reference.value }],
  )
}

/** Four significant digits; JSON has no NaN. */
export function rounded(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : null
}
