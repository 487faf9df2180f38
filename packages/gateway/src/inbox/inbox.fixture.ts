import type { Database } from '@agent-exchange/database'
import type { NewItem } from './inbox-item.ts'
import { insertItem, type LocalWaiters } from './inbox-items.ts'

let sequence = 0

/** Adds an item, as the handler of a received package does. */
export async function addItem(
  db: Database,
  given: Partial<NewItem> = {},
  local?: LocalWaiters,
): Promise<NewItem> {
  sequence += 1
  const item = {
    agentId: 'agent_a',
    packageId: `pkg_${sequence}`,
    threadId: `thread_${sequence}`,
    sequence,
    contentType: 'application/json',
    receivedAt: '2026-01-01T00:00:00.000Z',
    ...given,
  }
  await db.begin(async (tx) => insertItem(tx, item, local))
  return item
}

/** Ends the pauses and leases of all items, as time does. */
export const endTimes = (db: Database) =>
  db`update inbox_item set available_at = clock_timestamp() where available_at is not null`
