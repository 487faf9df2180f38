/** What repeated measurements came to. */
export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) }
}

export interface RatioInTurns {
  readonly value: number
  /** The standard error: two runs out of three come as close to what very many rounds would come to. */
  readonly error: number
}

/**
 * How one compares to another that was measured in turns with it: the geometric mean over all rounds. What disturbs the
 * machine for a while disturbs both of a round, and medians of the two may come from different rounds.
 */
export function ratioInTurns(values: readonly number[], others: readonly number[]): RatioInTurns {
  if (values.length !== others.length) throw new Error('each round has one of both')
  const logarithms = values.map((value, round) => Math.log(value / (others[round] ?? Number.NaN)))
  const rounds = logarithms.length
  const middle = sumOf(logarithms) / rounds
  const variance = sumOf(logarithms.map((each) => (each - middle) ** 2)) / (rounds - 1)
  const value = Math.exp(middle)
  return { value, error: value * Math.sqrt(variance / rounds) }
}

const sumOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0)

/** The smallest value that at least this share of all values does not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  return percentiles(values, [share])[0] ?? Number.NaN
}

/** Several of them with one sort. */
export function percentiles(values: readonly number[], shares: readonly number[]): number[] {
  const sorted = Float64Array.from(values).toSorted()
  return shares.map((share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN)
}
