import { Type } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import { raiseAlert } from '../../features/alerts/alert-store.ts'
import {
  findEndpoint,
  holdStream,
  listEndpoints,
  lockEndpoint,
  type EndpointRow,
  type EndpointStatus,
} from '../../webhooks/endpoints/endpoint-queries.ts'
import { markDeleted, markDisabled, markEnabled } from '../../webhooks/endpoints/endpoint-store.ts'
import { lastFailedOf, readEndpointHistory } from '../../webhooks/endpoints/endpoint-history.ts'
import { endPendingOf } from '../../webhooks/queue/delivery-store.ts'
import { countMissed, replayMissed } from '../../webhooks/queue/missed.ts'
import { replayDelivery } from '../../webhooks/queue/replay.ts'
import { wakeWorkers } from '../../webhooks/queue/wake-workers.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, type OperatorCall, type Route } from '../route.ts'
import { replayAnswer, replayOrder } from './replay-answer.ts'
import { toDelivery } from './shown-delivery.ts'

const endpointFilter = input({
  ...pageFields,
  organization_id: filter,
  status: Type.Optional(Type.Enum(['active', 'disabled', 'deleted'])),
})

export const listEndpointsRoute = read('/endpoints', endpointFilter, (call, db) => {
  const { organization_id: organizationId, status } = call.input
  const rows = (after: string | undefined, limit: number) =>
    listEndpoints(db, { organizationId, status, after, limit })
  const name = ['endpoints', organizationId, status]
  return listPage(call, { name, rows, position: (row) => row.webhook_endpoint_id }, toEndpoint)
})

export const showEndpointRoute = read(
  '/endpoints/:webhook_endpoint_id',
  input({}),
  async ({ params, now }, db) => {
    const id = params['webhook_endpoint_id'] ?? ''
    const endpoint = await findEndpoint(db, id)
    if (!endpoint) throw new Problem('resource_not_found')
    const [missed, history, lastFailed] = await Promise.all([
      countMissed(db, endpoint),
      readEndpointHistory(db, id, now),
      lastFailedOf(db, id),
    ])
    return { ...toEndpoint(endpoint), missed, history, last_failed_delivery_id: lastFailed ?? null }
  },
)

export const enableEndpointRoute = change(
  '/endpoints/:webhook_endpoint_id/enable',
  { body: input({ reason: optionalReason }) },
  async (call, tx) => {
    const { endpoint, lastSequence } = await lockWithStream(call, tx, ['disabled'])
    const id = endpoint.webhook_endpoint_id
    const enabled = await markEnabled(tx, id, { now: call.now, lastSequence })
    // Pending deliveries resume.
    await wakeWorkers(tx, id)
    const missed = enabled && (await countMissed(tx, enabled))
    return changed('endpoint.enable', endpoint, enabled, { missed })
  },
)

export const disableEndpointRoute = change(
  '/endpoints/:webhook_endpoint_id/disable',
  { body: input({ reason }) },
  async (call, tx) => {
    const { endpoint, lastSequence } = await lockWithStream(call, tx, ['active'])
    const { webhook_endpoint_id: endpointId, organization_id: organizationId } = endpoint
    const why = `operator: ${call.input.reason}`
    const { now } = call
    const disabled = await markDisabled(tx, endpointId, { reason: why, now, lastSequence })
    await raiseAlert(tx, { endpointId, organizationId, kind: 'endpoint_disabled', reason: why, now })
    return changed('endpoint.disable', endpoint, disabled)
  },
)

// The row is kept for the deliveries that refer to it. Pending deliveries end unsent.
export const deleteEndpointRoute = change(
  '/endpoints/:webhook_endpoint_id/delete',
  { body: input({ reason: optionalReason }) },
  async (call, tx) => {
    const { endpoint } = await lockWithStream(call, tx, ['active', 'disabled'])
    const why = `operator: ${call.input.reason ?? 'no reason given'}`
    const id = endpoint.webhook_endpoint_id
    const deleted = await markDeleted(tx, id, { reason: why, now: call.now })
    const ended = await endPendingOf(tx, id, call.now)
    return changed('endpoint.delete', endpoint, deleted, { ended_deliveries: ended })
  },
)

// One batch. The replay is complete when a batch is empty.
export const replayMissedRoute = change(
  '/endpoints/:webhook_endpoint_id/replay-missed',
  { body: input({ reason }) },
  async (call, tx) => {
    const id = call.params['webhook_endpoint_id'] ?? ''
    return { answer: replayAnswer(await replayMissed(tx, id, replayOrder(call))), logged: true }
  },
)

// Replays the newest delivery that failed: the quickest check that a receiver works again.
export const replayLastFailedRoute = change(
  '/endpoints/:webhook_endpoint_id/replay-last-failed',
  { body: input({ reason }), status: 201 },
  async (call, tx) => {
    const last = await lastFailedOf(tx, call.params['webhook_endpoint_id'] ?? '')
    if (last === undefined) throw new Problem('resource_not_found')
    return { answer: toDelivery(await replayDelivery(tx, last, replayOrder(call))), logged: true }
  },
)

export const endpointRoutes: readonly Route[] = [
  listEndpointsRoute,
  showEndpointRoute,
  enableEndpointRoute,
  disableEndpointRoute,
  deleteEndpointRoute,
  replayMissedRoute,
  replayLastFailedRoute,
]

/** Locks the organization's stream and the endpoint, which must be in one of these states. */
async function lockWithStream(
  { params }: OperatorCall<unknown>,
  tx: Transaction,
  from: readonly EndpointStatus[],
) {
  const id = params['webhook_endpoint_id'] ?? ''
  const found = await findEndpoint(tx, id)
  if (!found) throw new Problem('resource_not_found')
  const lastSequence = await holdStream(tx, found.organization_id)
  const endpoint = await lockEndpoint(tx, id)
  if (!endpoint) throw new Problem('resource_not_found')
  if (!from.includes(endpoint.status))
    throw new Problem('invalid_state_transition', { state: endpoint.status })
  return { endpoint, lastSequence }
}

function changed(action: string, before: EndpointRow, after: EndpointRow | undefined, more: object = {}) {
  return {
    answer: { ...toEndpoint(after ?? before), ...more },
    action,
    target: before.webhook_endpoint_id,
    details: { former_status: before.status, ...more },
  }
}

/** Leaves out internal columns. */
function toEndpoint({
  missed_after: _after,
  missed_until: _until,
  enabled_at: _enabled,
  ...endpoint
}: EndpointRow) {
  return endpoint
}
