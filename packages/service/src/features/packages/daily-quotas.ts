import { Problem } from '../../kernel/problem.ts'
import { dayOf, usageOn } from '../organizations/usage-store.ts'
import { NO_LIMIT } from '../organizations/consent-store.ts'
import type { AcceptanceState, ThreadState } from './acceptance-state.ts'
import type { Submission } from './submission.ts'

/** O-13: what a submission counts for its sender. Responses do not count: others asked for them. */
export function sentBy({ respondsTo, now }: Submission, { thread }: { readonly thread: ThreadState }) {
  const counts = respondsTo === undefined
  return { day: dayOf(now), packages: counts ? 1 : 0, threads: counts && isNew(thread) ? 1 : 0 }
}

/** O-13: packages and new threads of the sending organization in a UTC day. Off unless profile or operator set them. */
export function requireDailyQuotas(
  submission: Submission,
  thread: ThreadState,
  { agents, sentOfDay }: AcceptanceState,
): void {
  const { metadata, context } = submission
  const { day, packages, threads } = sentBy(submission, { thread })
  const sender = agents.get(metadata.sender_agent_id)
  const before = usageOn(day, sentOfDay.get(metadata.sender_org_id))
  const defaults = context.profile['O-13']
  const wanted = {
    packages_per_day: packages > 0 ? before.packages_of_day + packages : 0,
    threads_per_day: threads > 0 ? before.threads_of_day + threads : 0,
  }
  for (const quota of ['packages_per_day', 'threads_per_day'] as const) {
    const maximum = sender?.[quota] ?? defaults[quota] ?? NO_LIMIT
    if (maximum !== NO_LIMIT && wanted[quota] > maximum)
      throw new Problem('quota_reached', { quota, maximum })
  }
}

function isNew({ packageCount }: ThreadState): boolean {
  return packageCount === 0
}
