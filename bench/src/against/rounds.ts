import type { Comparison, Metric } from './comparisons.ts'

/** The working tree, and the revision that it is compared with. */
export type Side = 'here' | 'there'

/** A metric of both sides, by round. */
export interface Series {
  readonly metric: Metric
  readonly here: number[]
  readonly there: number[]
}

/** The processes of a round, which end with it. */
export interface Round extends AsyncDisposable {
  measure(comparison: Comparison, side: Side): Promise<readonly number[]>
}

/** The order alternates, so that neither side always runs first. */
const orderOf = (round: number): readonly Side[] => (round % 2 === 1 ? ['here', 'there'] : ['there', 'here'])

/** Measures both sides of each comparison directly after each other in every round. Round 0 is discarded. */
export async function alternate(
  comparisons: readonly Comparison[],
  rounds: number,
  startRound: (round: number, order: readonly Side[]) => Promise<Round>,
  onRound: (round: number, series: readonly Series[]) => void,
): Promise<Series[]> {
  const series = comparisons.flatMap(({ metrics }) =>
    metrics.map((metric): Series => ({ metric, here: [], there: [] })),
  )
  for (let round = 0; round <= rounds; round++) {
    const order = orderOf(round)
    await using started = await startRound(round, order)
    for (const comparison of comparisons) {
      for (const side of order) {
        const values = await started.measure(comparison, side)
        if (round === 0) continue
        for (const [i, metric] of comparison.metrics.entries()) {
          series.find((each) => each.metric === metric)?.[side].push(values[i] ?? Number.NaN)
        }
      }
    }
    onRound(round, series)
  }
  return series
}

/** Worktree, installation, two exchanges and their organizations. */
const PREPARATION_SECONDS = 90
/** Starting, warming up and ending the processes of one side. */
const ROUND_SECONDS = 9

/** On two idle cores. */
export function estimatedMinutes(comparisons: readonly Comparison[], rounds: number): number {
  const turn = comparisons.reduce((sum, { turnSeconds }) => sum + turnSeconds, 0)
  return Math.ceil((PREPARATION_SECONDS + (rounds + 1) * 2 * (ROUND_SECONDS + turn)) / 60)
}
