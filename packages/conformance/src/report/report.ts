import type { Requirement, Subject } from '../requirements/requirement.ts'
import type { CheckResult } from '../run/check.ts'
import { type RequirementVerdict, verdictFor, verdictsOf } from '../run/verdicts.ts'

/** Everything that the forms of a report show. */
export interface Report {
  readonly subject: Subject
  /** The address or command that was judged. */
  readonly judged: string
  readonly version: string
  readonly seed: string
  /** Of a service: how it decides open points, by a name or a digest. */
  readonly profile?: string
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

export const isPassed = (report: Report) => exitCodeOf(report) === 0

/** 1 if a requirement failed; 2 if one could not be judged, or none was, because that proves nothing; otherwise 0. */
export function exitCodeOf(report: Report): 0 | 1 | 2 {
  const { passed, failed, errors } = countsOf(report)
  if (failed > 0) return 1
  return errors > 0 || passed === 0 ? 2 : 0
}

/** The failed checks, each by what it broke of the wanted requirements. */
export function failuresOf({ verdicts, results }: Report): { check: CheckResult; ids: readonly string[] }[] {
  return results
    .map((check) => {
      const failed = verdicts.filter(({ requirement: { id }, checks }) =>
        checks.some((each) => each.name === check.name && verdictFor(id, each) === 'fail'),
      )
      return { check, ids: failed.map(({ requirement }) => requirement.id) }
    })
    .filter(({ ids }) => ids.length > 0)
}

export function countsOf({ verdicts }: Report) {
  const count = (wanted: string) => verdicts.filter(({ verdict }) => verdict === wanted).length
  return {
    passed: count('pass'),
    failed: count('fail'),
    errors: count('error'),
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
