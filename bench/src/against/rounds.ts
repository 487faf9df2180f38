import { geometricMean } from '../statistics.ts'
import type { Layout } from '../exchange/delivering-exchange.ts'
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
const SIDES: readonly Side[] = ['here', 'there']
const orderOf = (round: number): readonly Side[] => (round % 2 === 1 ? ['here', 'there'] : ['there', 'here'])

/** Within a round, the speed of a shared machine changes from second to second; a mean of turns varies less. */
const TURNS = 4

/** Measures both sides of each comparison in turns in every round, and takes geometric means. Round 0 is discarded. */
export async function alternate(
  comparisons: readonly Comparison[],
  rounds: number,
  startRound: (round: number, order: readonly Side[], layout: Layout) => Promise<Round>,
  onRound: (round: number, series: readonly Series[]) => void,
): Promise<Series[]> {
  const series = comparisons.flatMap(({ metrics }) =>
    metrics.map((metric): Series => ({ metric, here: [], there: [] })),
  )
  for (let round = 0; round <= rounds; round++) {
    const order = orderOf(round)
    // Processes of one layout would deliver for those of the other, so they never run side by side.
    for (const [layout, group] of Map.groupBy(comparisons, (each) => each.layout)) {
      await using started = await startRound(round, order, layout)
      for (const comparison of group) {
        const values = await inTurns(order, round === 0 ? 1 : TURNS, (side) =>
          started.measure(comparison, side),
        )
        if (round > 0) record(series, comparison, values)
      }
    }
    onRound(round, series)
  }
  return series
}

function record(series: readonly Series[], { metrics }: Comparison, values: Turns): void {
  for (const [i, metric] of metrics.entries()) {
    const one = series.find((each) => each.metric === metric)
    for (const side of SIDES)
      one?.[side].push(geometricMean(values[side].map((turn) => turn[i] ?? Number.NaN)))
  }
}

/** The values of each turn, by side. */
type Turns = Readonly<Record<Side, (readonly number[])[]>>

/** Every second turn has the opposite order: a, b, b, a, so that a steady drift falls on both sides alike. */
async function inTurns(
  order: readonly Side[],
  turns: number,
  measure: (side: Side) => Promise<readonly number[]>,
): Promise<Turns> {
  const values: Turns = { here: [], there: [] }
  for (let turn = 0; turn < turns; turn++)
    for (const side of turn % 2 === 0 ? order : order.toReversed()) values[side].push(await measure(side))
  return values
}

/** Worktree, installation, two exchanges and their organizations. */
const PREPARATION_SECONDS = 90
/** Starting, warming up and ending the processes of one side. */
const ROUND_SECONDS = 9

/** On two idle cores. */
export function estimatedMinutes(comparisons: readonly Comparison[], rounds: number): number {
  const turn = comparisons.reduce((sum, { turnSeconds }) => sum + turnSeconds, 0)
  const layouts = new Set(comparisons.map(({ layout }) => layout)).size
  const round = ROUND_SECONDS * layouts + TURNS * turn
  return Math.ceil((PREPARATION_SECONDS + (rounds + 1) * 2 * round) / 60)
}
