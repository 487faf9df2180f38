import type { Requirement, Subject } from '../requirements/requirement.ts'
import type { CheckResult } from '../run/check.ts'
import { type RequirementVerdict, verdictsOf } from '../run/verdicts.ts'

/** Everything that the forms of a report show. */
export interface Report {
  readonly subject: Subject
  /** The address or command that was judged. */
  readonly judged: string
  readonly version: string
  readonly seed: string
  readonly finishedAt: string
  readonly verdicts: readonly RequirementVerdict[]
  readonly results: readonly CheckResult[]
}

export interface ReportInput extends Omit<Report, 'verdicts'> {
  readonly requirements: readonly Requirement[]
}

export function reportOf({ requirements, ...rest }: ReportInput): Report {
  return { ...rest, verdicts: verdictsOf(requirements, rest.results) }
}

export const isPassed = ({ verdicts }: Report) => verdicts.every(({ verdict }) => verdict !== 'fail')

export function countsOf({ verdicts }: Report) {
  const count = (wanted: string) => verdicts.filter(({ verdict }) => verdict === wanted).length
  return {
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skipped'),
    notJudged: count('not judged'),
  }
}

/** How open points are decided, each observation once. */
export function openPointsOf({ results }: Report): readonly [id: string, observed: readonly string[]][] {
  const found = new Map<string, Set<string>>()
  for (const { id, observed } of results.flatMap(({ openPoints }) => openPoints))
    found.set(id, (found.get(id) ?? new Set()).add(observed))
  return [...found]
    .map(([id, observed]): [string, string[]] => [id, [...observed]])
    .toSorted(([a], [b]) => a.localeCompare(b))
}
