export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(sumOf(values.map(Math.log)) / values.length)
}

const sumOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0)

export interface RatioInterval {
  /** The geometric mean of the ratios of all rounds. */
  readonly value: number
  /** Bounds of the confidence interval; unknown after a single round. */
  readonly low: number
  readonly high: number
}

/** The share of repeated experiments whose interval contains the true ratio. */
export const CONFIDENCE = 0.95

/**
 * The ratio of two series that were measured in turns, with its confidence interval: Student's t on the logarithms of the
 * ratios of the rounds, so that swapping the two sides gives the reciprocal interval. A disturbance affects both values of
 * a round, whereas medians of the series may come from different rounds.
 */
export function ratioInterval(values: readonly number[], others: readonly number[]): RatioInterval {
  if (values.length !== others.length) throw new Error('both series need the same number of rounds')
  const logarithms = values.map((value, round) => Math.log(value / (others[round] ?? Number.NaN)))
  const rounds = logarithms.length
  const middle = sumOf(logarithms) / rounds
  const variance = sumOf(logarithms.map((each) => (each - middle) ** 2)) / (rounds - 1)
  const margin = Math.exp(studentQuantile(rounds - 1, CONFIDENCE) * Math.sqrt(variance / rounds))
  const value = Math.exp(middle)
  return { value, low: value / margin, high: value * margin }
}

const BISECTIONS = 100

/** The two-sided quantile of Student's t. */
export function studentQuantile(degrees: number, probability: number): number {
  if (degrees < 1) return Number.NaN
  let [low, high] = [0, 1]
  while (studentProbability(degrees, high) < probability) high *= 2
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2
    if (studentProbability(degrees, middle) < probability) low = middle
    else high = middle
  }
  return high
}

/** The probability of |t| below a limit, for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4). */
function studentProbability(degrees: number, limit: number): number {
  const angle = Math.atan(limit / Math.sqrt(degrees))
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)]
  const isOdd = degrees % 2 === 1
  let term = isOdd ? cosine : 1
  let sum = degrees === 1 ? 0 : term
  for (let power = isOdd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= (cosine ** 2 * (power - 1)) / power
    sum += term
  }
  return isOdd ? ((angle + sine * sum) * 2) / Math.PI : sine * sum
}

/** For each share, the smallest value that at least this share of all values does not exceed (nearest rank). */
export function percentiles(values: readonly number[], shares: readonly number[]): number[] {
  const sorted = Float64Array.from(values).toSorted()
  return shares.map((share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN)
}
