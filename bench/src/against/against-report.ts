import type { Machine } from '../report/machine.ts'
import { rounded } from '../report/json.ts'
import { formatTable, formatWanted, judge } from '../report/tables.ts'
import { formatNumber } from '../report/format-number.ts'
import { CONFIDENCE, median, ratioInterval, type RatioInterval } from '../statistics.ts'
import type { Metric } from './comparisons.ts'
import type { Series } from './rounds.ts'

/** Fewer rounds only test the command; they say nothing about a revision. */
const WANTED_ROUNDS = 20

/** The compared revisions. */
export interface Compared {
  readonly ref: string
  readonly commit: string
  readonly workingTree: string
  readonly rounds: number
}

export function formatAgainst(series: readonly Series[], compared: Compared): string {
  const { ref, commit, workingTree, rounds } = compared
  const percent = Math.round(CONFIDENCE * 100)
  const title = `Working tree (${workingTree}) against ${ref} (${commit.slice(0, 12)}), ${rounds} rounds`
  const head = ['', 'working tree', ref, 'ratio', `${percent}% interval`, 'working tree is', 'wanted', '']
  const rows = series.map((each) => {
    const { metric, here, there } = each
    const interval = intervalOf(each)
    return [
      metric.label,
      formatNumber(median(here)),
      formatNumber(median(there)),
      formatRatio(interval.value),
      `${formatRatio(interval.low)} – ${formatRatio(interval.high)}`,
      verdictOf(metric, interval),
      formatWanted(metric.wanted),
      judge(interval.value, metric.wanted),
    ]
  })
  return [
    formatTable(title, head, rows),
    'Medians of the rounds; the ratio is working tree to the other, the geometric mean over rounds, with the interval by ' +
      "Student's t on the logarithms of the per-round ratios. One interval in twenty misses the true ratio, also where " +
      'nothing differs. Targets are those against the first release, 34910d1.',
    ...(rounds < WANTED_ROUNDS
      ? [`Fewer than ${WANTED_ROUNDS} rounds: only a test of the command, not a result.`]
      : []),
    '',
  ].join('\n')
}

export function againstJson(series: readonly Series[], compared: Compared, machine: Machine): object {
  const byId = <T>(of: (each: Series) => T) =>
    Object.fromEntries(series.map((each) => [each.metric.id, of(each)]))
  return {
    against: compared,
    ratios: byId((each) => rounded(intervalOf(each).value)),
    intervals: byId((each) => [rounded(intervalOf(each).low), rounded(intervalOf(each).high)]),
    better: byId(({ metric }) => metric.better),
    rounds: byId(({ here, there }) => ({
      working_tree: here.map(rounded),
      against: there.map(rounded),
    })),
    machine,
  }
}

const intervalOf = ({ here, there }: Series) => ratioInterval(here, there)

function verdictOf({ better }: Metric, { low, high }: RatioInterval): string {
  if (low <= 1 && 1 <= high) return 'not shown to differ'
  return low > 1 === (better === 'higher') ? 'better' : 'worse'
}

/** Three decimals, because ratios near 1 differ there. */
const formatRatio = (value: number) => (value < 10 ? value.toFixed(3) : formatNumber(value))
