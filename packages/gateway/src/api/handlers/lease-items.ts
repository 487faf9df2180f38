import { MasterKeyError } from '@agent-exchange/server/master-key'
import type { StoredContent } from '../../content/content-store.ts'
import { toShownItem, type LeasedItem } from '../../inbox/inbox-item.ts'
import { failItem, releaseItem, UNREADABLE_CONTENT } from '../../inbox/inbox-items.ts'
import { DEFAULT_VISIBILITY_SECONDS } from '../../inbox/inbox-limits.ts'
import { GatewayProblem } from '../../problems.ts'
import { agentIdsOf, readerOf, type ApiParts, type Handler } from '../call.ts'
import { openedContent } from '../opened-content.ts'

const RETRY_SECONDS = 1

export const leaseItems: Handler<'leaseItems'> = async (call) => {
  const { agent_id, wait = 0, max = 1, visibility = DEFAULT_VISIBILITY_SECONDS } = call.body
  const permitted = agentIdsOf(call)
  if (agent_id !== undefined && !permitted.includes(agent_id)) throw new GatewayProblem('resource_not_found')
  const agentIds = agent_id === undefined ? permitted : [agent_id]
  const taken = await call.parts.leases.take(
    {
      agentIds,
      max,
      visibilitySeconds: visibility,
      by: call.caller.id,
      reader: () => readerOf(call.caller, 'leaseItems'),
    },
    { seconds: wait, signal: call.signal },
  )
  if (!taken) throw new GatewayProblem('service_overloaded', { retry_after_seconds: RETRY_SECONDS })
  // Nobody would answer these leases.
  if (call.signal.aborted) for (const item of taken) await releaseItem(call.parts.db, { agentIds, ...item })
  const leases: object[] = []
  for (const item of call.signal.aborted ? [] : taken)
    if (item.content instanceof MasterKeyError) await failUnreadable(call.parts, item, item.content)
    else leases.push(shownLease(item, item.content))
  return { body: { leases } }
}

/** It must not keep the other items of the request from their consumer. */
async function failUnreadable(
  { db, log }: Pick<ApiParts, 'db' | 'log'>,
  item: LeasedItem,
  error: MasterKeyError,
): Promise<void> {
  const { itemId, agentId } = item
  log.error({ err: error, agent: agentId, item: itemId }, 'the content of an item cannot be read')
  await failItem(db, { agentIds: [agentId], ...item }, UNREADABLE_CONTENT)
}

/** With its content, unless that was deleted in the meantime. */
const shownLease = (item: LeasedItem, content: StoredContent | 'gone' | undefined) => ({
  ...toShownItem(item),
  received_at: item.receivedAt,
  lease_token: item.leaseToken,
  lease_ends_at: item.leaseEndsAt,
  attempt: item.attempts,
  ...(content !== undefined && content !== 'gone' && { package: openedContent(content) }),
})
