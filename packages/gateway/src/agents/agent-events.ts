import type { Database } from '@agent-exchange/database'
import type { InboxEvent } from '@agent-exchange/sdk'
import { openPostgresInbox } from '../stores/inbox.ts'

/** Events that one listing reads of each agent. */
const MAXIMUM_LISTED_EVENTS = 1_000

export interface AgentEvent extends InboxEvent {
  readonly agentId: string
  readonly eventType: string
  readonly packageId: string
}

/** Events that wait to be handled, or that were set aside, in the order of each agent's stream. */
export async function listEvents(
  db: Database,
  agentIds: readonly string[],
  state: 'pending' | 'set_aside',
): Promise<readonly AgentEvent[]> {
  const lists = await Promise.all(
    agentIds.map(async (agentId) => {
      const events = await openPostgresInbox(db, agentId).list(state, MAXIMUM_LISTED_EVENTS)
      return events.map((event) => ({ ...event, agentId, ...describe(event) }))
    }),
  )
  return lists.flat()
}

/** Lets events that were set aside wait again, at their place in the stream. Returns how many. */
export async function retryEvents(
  db: Database,
  agentIds: readonly string[],
  which: { readonly eventId: string } | 'all',
): Promise<number> {
  let retried = 0
  for (const agentId of agentIds) {
    const inbox = openPostgresInbox(db, agentId)
    for (;;) {
      const eventIds =
        which === 'all'
          ? (await inbox.list('set_aside', MAXIMUM_LISTED_EVENTS)).map(({ eventId }) => eventId)
          : [which.eventId]
      for (const eventId of eventIds) if (await inbox.retry(eventId)) retried += 1
      if (eventIds.length < MAXIMUM_LISTED_EVENTS) break
    }
  }
  return retried
}

function describe({ body }: InboxEvent): { readonly eventType: string; readonly packageId: string } {
  const { event_type, package_id } = JSON.parse(body) as { event_type?: string; package_id?: string }
  return { eventType: event_type ?? '', packageId: package_id ?? '' }
}
