import { MasterKeyError } from '@agent-exchange/server/master-key'
import { toShownItem, type SetAsideItem } from '../../inbox/inbox-item.ts'
import { failureContext, listSetAside as list, retrySetAside as retry } from '../../inbox/inbox-items.ts'
import type { SecretWrap } from '../../push/push-endpoints.ts'
import { GatewayProblem } from '../../problems.ts'
import { agentIdsOf, type Handler } from '../call.ts'

const DEFAULT_PAGE = 50
const UNREADABLE = 'The reason cannot be decrypted.'

export const listSetAside: Handler<'listSetAside'> = async (call) => {
  const { after, limit = DEFAULT_PAGE } = call.query
  const found = await list(call.parts.db, {
    agentIds: agentIdsOf(call),
    limit,
    ...(after !== undefined && { after }),
  })
  const last = found.at(-1)
  return {
    body: {
      items: found.map((item) => ({
        ...toShownItem(item),
        received_at: item.receivedAt,
        attempts: item.attempts,
        failure: failureOf(call.parts.box, item),
      })),
      ...(last && found.length === limit && { next_after: last.itemId }),
    },
  }
}

/** One reason that cannot be decrypted must not hide the other items of the page. */
function failureOf(box: SecretWrap, { itemId, failure, wrappedFailure }: SetAsideItem): string | null {
  if (!wrappedFailure) return failure
  try {
    return Buffer.from(box.unwrap(failureContext(itemId), wrappedFailure)).toString()
  } catch (error) {
    if (error instanceof MasterKeyError) return UNREADABLE
    throw error
  }
}

export const retrySetAside: Handler<'retrySetAside'> = async (call) => {
  const itemId = call.path['item_id'] ?? ''
  const isRetried = await call.parts.db.begin((tx) => retry(tx, agentIdsOf(call), itemId))
  if (!isRetried) throw new GatewayProblem('resource_not_found')
  return { body: { item_id: itemId } }
}
