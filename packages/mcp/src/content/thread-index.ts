import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import type { KnownThread } from '../mcp-agent.ts'
import { MAXIMUM_SCANNED_EVENTS } from '../mcp-limits.ts'

/**
 * Threads that the inbox has events of, the latest first. The exchange offers no list of threads, so threads whose
 * events were removed from the inbox are missing.
 */
export async function threadsOfInbox(agent: FolderAgent): Promise<KnownThread[]> {
  const inbox = agent.inbox()
  const lists = await Promise.all(
    (['pending', 'processed', 'set_aside'] as const).map((state) =>
      inbox.list(state, MAXIMUM_SCANNED_EVENTS),
    ),
  )
  const events = lists
    .flat()
    .toSorted((one, other) => one.sequence - other.sequence)
    .map(({ body }) => JSON.parse(body) as NotificationEnvelope)
  return [...Map.groupBy(events, ({ thread_id }) => thread_id)]
    .map(([thread_id, found]) => ({
      thread_id,
      packages: new Set(found.map(({ package_id }) => package_id)).size,
      last_event_at: found.at(-1)?.occurred_at ?? '',
      last_package_id: found.at(-1)?.package_id ?? '',
    }))
    .toSorted((one, other) => Date.parse(other.last_event_at) - Date.parse(one.last_event_at))
}
