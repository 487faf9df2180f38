import type { Transaction } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import { DELIVERY_COLUMNS, findDelivery, type DeliveryRow } from './delivery-queries.ts'
import { lockEndpoint } from '../endpoints/endpoint-queries.ts'
import { holdThreads } from './replay-evidence.ts'
import { insertReplays, type ReplayOrder } from './replay-insert.ts'

/**
 * EVT-12: delivers again what has failed. Refused while the same notification is under way to the same endpoint or
 * has already reached it: the receiver would only drop the duplicate.
 */
export async function replayDelivery(tx: Transaction, id: string, order: ReplayOrder): Promise<DeliveryRow> {
  const found = await findDelivery(tx, id)
  if (!found) throw new Problem('resource_not_found')
  const threads = await holdThreads(tx, [found])
  await requireActiveEndpoint(tx, found.webhook_endpoint_id)
  // Under the endpoint's lock, so that of two replays at once the second sees the first.
  const siblings = await tx<DeliveryRow[]>`
    select ${DELIVERY_COLUMNS} from delivery
    where package_id = ${found.package_id}
      and notification_id = ${found.notification_id} and webhook_endpoint_id = ${found.webhook_endpoint_id}
    order by delivery_id`
  const own = siblings.find((each) => each.delivery_id === id)
  for (const each of own ? [own, ...siblings] : siblings) requireFailed(each, id)
  const [notification] = await tx`
    select from notification where notification_id = ${found.notification_id}`
  if (!notification)
    throw refused('notification_not_retained', 'Its notification is older than O-18 keeps any.')
  const [replayed] = await insertReplays(tx, [{ ...found, replay_of: id }], threads, order)
  const made = replayed && (await findDelivery(tx, replayed.delivery_id))
  if (!made) throw new Error('a delivery that was just made is gone')
  return made
}

/** What a receiver refused for good would only be refused again. */
export async function requireActiveEndpoint(tx: Transaction, endpointId: string) {
  const endpoint = await lockEndpoint(tx, endpointId)
  if (!endpoint) throw new Problem('resource_not_found')
  if (endpoint.status === 'active') return endpoint
  const todo =
    endpoint.status === 'disabled'
      ? `Enable it first; that can replay all it missed: aex endpoint enable ${endpointId} --replay --reason TEXT`
      : 'It was deleted: its organization has to register a new one, and finds the notifications in its stream.'
  throw refused(`endpoint_${endpoint.status}`, todo, { webhook_endpoint_id: endpointId })
}

function requireFailed({ delivery_id, state, next_attempt_at }: DeliveryRow, wanted: string): void {
  if (state === 'failed' || state === 'dead') return
  const which = delivery_id === wanted ? 'It' : `Delivery ${delivery_id} of the same notification`
  const why =
    state === 'pending'
      ? `${which} is under way; its next attempt is due at ${next_attempt_at}.`
      : `${which} has reached the receiver; whoever lost it there finds it with GET /v1/notifications.`
  throw refused(state, why, { delivery_id })
}

function refused(state: string, hint: string, details: object = {}): Problem {
  return new Problem('invalid_state_transition', { state, ...details, hint })
}
