import { timestamp } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import {
  attemptsOf,
  DELIVERY_STATES,
  findDelivery,
  listDeliveries,
  replaysOf,
  type DeliveryFilter,
} from '../../webhooks/queue/delivery-queries.ts'
import { adviseOnDelivery } from '../../webhooks/queue/delivery-advice.ts'
import { findEndpoint } from '../../webhooks/endpoints/endpoint-queries.ts'
import type { AttemptDetails } from '../../webhooks/queue/finished-attempt.ts'
import { withContext } from '../../webhooks/queue/delivery-context.ts'
import { withLastErrors } from '../../webhooks/queue/last-errors.ts'
import { countReplays, MAXIMUM_COUNTED, replayMany } from '../../webhooks/queue/replay-many.ts'
import { replayDelivery } from '../../webhooks/queue/replay.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, read, reason, type Route } from '../route.ts'
import { replayAnswer, replayOrder } from './replay-answer.ts'
import { toDelivery } from './shown-delivery.ts'

const MAXIMUM_REPLAYS_SHOWN = 100

const selection = {
  organization_id: filter,
  webhook_endpoint_id: filter,
  since: Type.Optional(timestamp),
  until: Type.Optional(timestamp),
}
const replayState = Type.Optional(Type.Enum(['failed', 'dead']))

const deliveryFilter = input({
  ...pageFields,
  ...selection,
  state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
})

export const listDeliveriesRoute = read('/deliveries', deliveryFilter, (call, db) => {
  const wanted: DeliveryFilter = { ...selectionOf(call.input), state: call.input.state }
  const rows = async (after: string | undefined, limit: number) =>
    withContext(db, await withLastErrors(db, await listDeliveries(db, wanted, { after, limit })))
  const name = ['deliveries', JSON.stringify(wanted)]
  return listPage(call, { name, rows, position: ({ delivery_id }) => delivery_id }, toDelivery)
})

export const showDeliveryRoute = read('/deliveries/:delivery_id', input({}), async ({ params }, db) => {
  const id = params['delivery_id'] ?? ''
  const delivery = await findDelivery(db, id)
  if (!delivery) throw new Problem('resource_not_found')
  const [attempts, replays, endpoint, [shown = delivery]] = await Promise.all([
    attemptsOf(db, id),
    replaysOf(db, id, MAXIMUM_REPLAYS_SHOWN),
    findEndpoint(db, delivery.webhook_endpoint_id),
    withContext(db, [delivery]),
  ])
  const shownAttempts = attempts.map((attempt) => ({
    ...attempt,
    details: JSON.parse(attempt.details) as AttemptDetails,
  }))
  const last = shownAttempts.at(-1)?.details
  return {
    ...toDelivery(shown),
    what_to_do: adviseOnDelivery({
      state: delivery.state,
      isReplayed: replays.length > 0,
      endpointStatus: endpoint?.status,
      status: last?.status,
      errorClass: last?.error_class,
    }),
    endpoint: { url: endpoint?.url, status: endpoint?.status, status_reason: endpoint?.status_reason },
    attempts: shownAttempts,
    replays: replays.map(toDelivery),
  }
})

// EVT-12: a new delivery of the same event.
export const replayDeliveryRoute = change(
  '/deliveries/:delivery_id/replay',
  { body: input({ reason }), status: 201 },
  async (call, tx) => {
    const target = call.params['delivery_id'] ?? ''
    const replay = await replayDelivery(tx, target, replayOrder(call))
    return { answer: toDelivery(replay), logged: true }
  },
)

// Preview of a bulk replay.
export const countReplaysRoute = read(
  '/replays',
  input({ ...selection, state: replayState }),
  async ({ input: wanted }, db) => {
    const endpoints = await countReplays(db, { ...selectionOf(wanted), state: wanted.state })
    const count = endpoints.reduce((sum, each) => sum + each.count, 0)
    return { count, more: count >= MAXIMUM_COUNTED, endpoints }
  },
)

// One batch of a bulk replay. The replay is complete when a batch is empty.
export const replayManyRoute = change(
  '/replays',
  { body: input({ ...selection, webhook_endpoint_id: Type.String(), state: replayState, reason }) },
  async (call, tx) => {
    const { webhook_endpoint_id: endpointId, state } = call.input
    const wanted = { ...selectionOf(call.input), endpointId, state }
    return { answer: replayAnswer(await replayMany(tx, wanted, replayOrder(call))), logged: true }
  },
)

export const deliveryRoutes: readonly Route[] = [
  listDeliveriesRoute,
  showDeliveryRoute,
  replayDeliveryRoute,
  countReplaysRoute,
  replayManyRoute,
]

interface Selection {
  readonly organization_id?: string
  readonly webhook_endpoint_id?: string
  readonly since?: string
  readonly until?: string
}

function selectionOf({ organization_id, webhook_endpoint_id, since, until }: Selection): DeliveryFilter {
  return { organizationId: organization_id, endpointId: webhook_endpoint_id, since, until }
}
