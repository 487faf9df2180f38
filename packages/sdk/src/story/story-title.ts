import type { ReasoningPackage } from '@agent-exchange/protocol'
import type { CountedPackage } from './readable-package.ts'
import type { StoryTitle } from './story-types.ts'

/** Members of the scope that a title has room for. */
const MAXIMUM_SCOPE = 3

/** The business context of the first reasoning says what the thread is about. */
export function titleFrom(first: CountedPackage<ReasoningPackage> | undefined): StoryTitle | undefined {
  if (!first) return undefined
  const { object, quote, source } = first
  const { use_case, domain, time_horizon, affected_scope } = object.business_context
  const scope = Object.values(affected_scope).filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
  return {
    useCase: quote(use_case),
    domain: quote(domain),
    timeHorizon: quote(time_horizon),
    scope: scope.slice(0, MAXIMUM_SCOPE).map((value) => quote(String(value))),
    source,
  }
}
