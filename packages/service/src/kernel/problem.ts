import { problems, type ProblemCode } from '@agent-exchange/protocol'

export type ProblemDetails = Readonly<Record<string, unknown>>

/** An expected failure with a code of the closed union. Only `http/` and `operator/` map it to an answer. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  /** Never contains content, a token or a key. */
  readonly details: ProblemDetails

  constructor(code: ProblemCode, details: ProblemDetails = {}, options?: ErrorOptions) {
    super(problems[code].title, options)
    this.code = code
    this.details = details
  }
}

const DATABASE_RETRY_SECONDS = 1

/** The request may succeed in a moment, on either listener. */
export function databaseUnavailable(cause: unknown): Problem {
  return new Problem('database_unavailable', { retry_after_seconds: DATABASE_RETRY_SECONDS }, { cause })
}

const MODULE_RETRY_SECONDS = 5

/** The module that holds the signing keys is away. */
export function signingUnavailable(cause: unknown): Problem {
  return new Problem('signing_unavailable', { retry_after_seconds: MODULE_RETRY_SECONDS }, { cause })
}

/** Returns a thrown problem as a value, so that a batch can continue with its other items. */
export function resultOrProblem<T>(work: () => T): T | Problem {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}
