import { problems, problemSlug, type ProblemDetails } from '@agent-exchange/protocol'
import type { Context } from './context.ts'
import type { Problem } from './problem.ts'

/** O-11: the base of problem types. Defaults to pages that this exchange serves. */
export function problemBase({ profile, publicUrl }: Pick<Context, 'profile' | 'publicUrl'>): string {
  return profile['O-11'].problem_base ?? `${publicUrl}/problems`
}

/** The seven members of every failure (ERR-01). */
export function problemDocument(problem: Problem, base: string, correlationId: string): ProblemDetails {
  const { title, status, retryable } = problems[problem.code]
  return {
    type: `${base}/${problemSlug(problem.code)}`,
    title,
    status,
    code: problem.code,
    correlation_id: correlationId,
    retryable,
    details: problem.details,
  }
}
