import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Inbox } from '@agent-exchange/sdk'
import type { ThreadSummary } from './desk-agent.ts'
import { EVENTS_OF_A_THREAD, SHOWN_EVENTS, SHOWN_THREADS } from './desk-limits.ts'

/** Threads of the stored events, newest first. */
export async function threadsOfInbox(
  inbox: Pick<Inbox, 'list'>,
  limit = SHOWN_THREADS,
): Promise<readonly ThreadSummary[]> {
  const events = Math.max(SHOWN_EVENTS, limit * EVENTS_OF_A_THREAD)
  const states = ['pending', 'processed', 'set_aside'] as const
  const listed = await Promise.all(states.map((state) => inbox.list(state, events, 'newest')))
  const sorted = listed
    .flat()
    .map(({ body, state }) => ({ event: JSON.parse(body) as NotificationEnvelope, state }))
    .toSorted((left, right) => right.event.sequence - left.event.sequence)
  const threads = Map.groupBy(sorted, ({ event }) => event.thread_id)
  return [...threads].slice(0, limit).flatMap(([threadId, found]) => {
    const [newest] = found
    if (!newest) return []
    return [
      {
        threadId,
        packages: new Set(found.map(({ event }) => event.package_id)).size,
        last: newest.event,
        pending: found.filter(({ state }) => state === 'pending').length,
      },
    ]
  })
}
