import type { Figure, Unit } from './area.ts'
import { median, spreadOf } from './statistics.ts'

/** A figure from its repetitions. */
export function figureOf(
  id: string,
  label: string,
  unit: Unit,
  values: readonly number[],
  more: Pick<Figure, 'isOther' | 'isInTable' | 'isUnplotted' | 'reference'> = {},
): Figure {
  return {
    id,
    label,
    value: median(values),
    unit,
    ...(values.length > 1 && { spread: spreadOf(values) }),
    ...more,
  }
}
