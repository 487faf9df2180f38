import { Type } from 'typebox'
import { Problem } from '../../kernel/problem.ts'
import {
  attemptsOf,
  DELIVERY_STATES,
  findDelivery,
  listDeliveries,
  replaysOf,
  type DeliveryPosition,
  type DeliveryRow,
} from '../delivery-queries.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { input, read, type Route } from '../route.ts'

const MAXIMUM_REPLAYS_SHOWN = 100

const deliveryFilter = input({
  ...pageFields,
  organization_id: filter,
  state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
})

export const deliveryRoutes: readonly Route[] = [
  read('/deliveries', deliveryFilter, (call, db) => {
    const { organization_id: organizationId, state } = call.input
    const rows = (after: string | undefined, limit: number) => {
      const position = after === undefined ? undefined : (JSON.parse(after) as DeliveryPosition)
      return listDeliveries(db, { organizationId, state, after: position, limit })
    }
    return listPage(
      call,
      { name: ['deliveries', organizationId, state], rows, position: positionOf },
      toDelivery,
    )
  }),

  read('/deliveries/:delivery_id', input({}), async ({ params }, db) => {
    const id = params['delivery_id'] ?? ''
    const delivery = await findDelivery(db, id)
    if (!delivery) throw new Problem('resource_not_found')
    const [attempts, replays] = await Promise.all([
      attemptsOf(db, id),
      replaysOf(db, id, MAXIMUM_REPLAYS_SHOWN),
    ])
    return {
      ...toDelivery(delivery),
      attempts: attempts.map((attempt) => ({ ...attempt, details: JSON.parse(attempt.details) as object })),
      replays: replays.map(toDelivery),
    }
  }),
]

function positionOf({ created_at, delivery_id }: DeliveryRow): string {
  const position: DeliveryPosition = { createdAt: created_at, deliveryId: delivery_id }
  return JSON.stringify(position)
}

/** Members that say nothing here are left out. */
function toDelivery(row: DeliveryRow): Partial<DeliveryRow> {
  const shown = Object.entries(row).filter(([name, value]) => {
    return value !== null && (name !== 'next_attempt_at' || row.state === 'pending')
  })
  return Object.fromEntries(shown)
}
