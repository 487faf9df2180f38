import type { DeliveryContext } from '../../webhooks/queue/delivery-context.ts'
import type { ListedDelivery } from '../../webhooks/queue/last-errors.ts'

/** What is not null, and `next_attempt_at` and `claim_id` of pending deliveries only. */
type Optional =
  | 'next_attempt_at'
  | 'claim_id'
  | 'finished_at'
  | 'replay_of'
  | 'replay_actor'
  | 'replay_reason'
export type ShownDelivery = Omit<ListedDelivery, Optional> &
  DeliveryContext & {
    readonly [Name in Optional]?: NonNullable<ListedDelivery[Name]>
  }

/** Leaves out members without a value, and those that apply to pending deliveries only. */
export function toDelivery(row: ListedDelivery & DeliveryContext): ShownDelivery {
  const onlyPending = new Set(['next_attempt_at', 'claim_id'])
  const shown = Object.entries(row).filter(([name, value]) => {
    return value !== null && (!onlyPending.has(name) || row.state === 'pending')
  })
  return Object.fromEntries(shown) as unknown as ShownDelivery
}
