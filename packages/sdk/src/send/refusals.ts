import { problems, type ProblemCategory, type TransportMode } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'

/** Refusals that depend on state which may change: the same request may succeed later. */
const PASSING = new Set<ProblemCategory>(['authentication', 'authorization', 'rate_limit', 'availability'])
const PASSING_STATUSES = new Set([401, 403, 408, 425, 429])

/** Whether the refusal concerns the request itself, so that a retry is useless. */
export function isFinal(error: unknown): error is ExchangeError {
  if (!(error instanceof ExchangeError) || error.code !== 'exchange_refused' || error.retryable) return false
  const { problem } = error
  if (!problem || problem.status < 400 || problem.status >= 500) return false
  const known = Object.hasOwn(problems, problem.code)
    ? problems[problem.code as keyof typeof problems]
    : undefined
  return known ? !PASSING.has(known.category) : !PASSING_STATUSES.has(problem.status)
}

/** PKG-05: the mode of the thread, if a package was refused for having the other mode. */
export function requiredMode(error: unknown): TransportMode | undefined {
  if (!(error instanceof ExchangeError) || error.problem?.code !== 'transport_mode_mismatch') return undefined
  const { required_mode: mode } = error.problem.details as { required_mode?: unknown }
  return mode === 'native' || mode === 'ds_x' ? mode : undefined
}
