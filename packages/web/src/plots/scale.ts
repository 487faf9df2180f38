/** Values from zero to a round number at or above `highest`, in equal steps. */
export function niceTicks(highest: number): readonly number[] {
  if (!Number.isFinite(highest) || highest < 0)
    throw new RangeError('a plot shows finite values from zero on')
  if (highest === 0) return [0, 1]
  const rough = highest / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const count = Math.ceil(highest / step - 1e-9)
  return Array.from({ length: count + 1 }, (_value, index) => Number((index * step).toPrecision(12)))
}

/** Positions of at most four labels, each in the middle of an equal part of the axis. */
export function labelIndexes(count: number): readonly number[] {
  const parts = Math.min(4, count)
  return Array.from({ length: parts }, (_value, part) => Math.floor(((part + 0.5) / parts) * count))
}
