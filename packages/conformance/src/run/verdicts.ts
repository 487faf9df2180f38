import type { Requirement } from '../requirements/requirement.ts'
import type { CheckResult, Verdict } from './check.ts'

export interface RequirementVerdict {
  readonly requirement: Requirement
  /** The worst of its checks; `not judged` without any that ran. */
  readonly verdict: Verdict | 'not judged'
  readonly checks: readonly CheckResult[]
}

/** The worst first: where a check could not be completed, the others prove too little. */
const VERDICTS: readonly Verdict[] = ['fail', 'error', 'pass', 'skipped']

/** A requirement with a pass and a skipped check passes: what was judged, holds. */
export function verdictsOf(
  requirements: readonly Requirement[],
  results: readonly CheckResult[],
): RequirementVerdict[] {
  return requirements.map((requirement) => {
    const checks = results.filter(({ ids }) => ids.includes(requirement.id))
    const of = (check: CheckResult) => verdictFor(requirement.id, check)
    const has = (verdict: Verdict) => checks.some((check) => of(check) === verdict)
    const verdict = VERDICTS.find(has) ?? 'not judged'
    return { requirement, verdict, checks }
  })
}

/** A check that failed for another requirement did not get as far as this one. */
export function verdictFor(id: string, { verdict, broken }: CheckResult): Verdict {
  return verdict === 'fail' && broken && !broken.includes(id) ? 'skipped' : verdict
}
