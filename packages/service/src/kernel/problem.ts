import { problems, type ProblemCode } from '@agent-exchange/protocol'

export type ProblemDetails = Readonly<Record<string, unknown>>

/** An expected failure: one code of the closed union. Only `http/` and `operator/` turn it into an answer. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  /** Never content, a token or a key. */
  readonly details: ProblemDetails

  constructor(code: ProblemCode, details: ProblemDetails = {}, options?: ErrorOptions) {
    super(problems[code].title, options)
    this.code = code
    this.details = details
  }
}

const DATABASE_RETRY_SECONDS = 1

/** The same request may pass in a moment, on whichever listener it arrived. */
export function databaseUnavailable(cause: unknown): Problem {
  return new Problem('database_unavailable', { retry_after_seconds: DATABASE_RETRY_SECONDS }, { cause })
}

/** What the work gives, or the problem that stood in its way, for those who go on with others. */
export function resultOrProblem<T>(work: () => T): T | Problem {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}
