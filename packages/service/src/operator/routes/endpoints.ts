import type { Transaction } from '../../db/database.ts'
import { Problem } from '../../kernel/problem.ts'
import {
  listEndpoints,
  lockEndpoint,
  setEndpointStatus,
  type EndpointRow,
  type EndpointStatus,
} from '../endpoint-queries.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, type OperatorCall, type Route } from '../route.ts'

export const endpointRoutes: readonly Route[] = [
  read('/endpoints', input({ ...pageFields, organization_id: filter }), (call, db) => {
    const organizationId = call.input.organization_id
    const rows = (after: string | undefined, limit: number) =>
      listEndpoints(db, { organizationId, after, limit })
    return listPage(call, { name: ['endpoints', organizationId], rows, position: positionOf }, (row) => row)
  }),

  change('/endpoints/:webhook_endpoint_id/enable', { body: input({ reason: optionalReason }) }, (call, tx) =>
    moveTo('active', ['disabled'], call, tx),
  ),
  change('/endpoints/:webhook_endpoint_id/disable', { body: input({ reason }) }, (call, tx) =>
    moveTo('disabled', ['active'], call, tx),
  ),
  // The row stays, for the deliveries that refer to it.
  change('/endpoints/:webhook_endpoint_id/delete', { body: input({ reason: optionalReason }) }, (call, tx) =>
    moveTo('deleted', ['active', 'disabled'], call, tx),
  ),
]

function positionOf({ webhook_endpoint_id }: EndpointRow): string {
  return webhook_endpoint_id
}

const ACTIONS = {
  active: 'endpoint.enable',
  disabled: 'endpoint.disable',
  deleted: 'endpoint.delete',
} as const

async function moveTo(
  status: EndpointStatus,
  from: readonly EndpointStatus[],
  { params, input: { reason: why }, now }: OperatorCall<{ reason?: string }>,
  tx: Transaction,
) {
  const target = params['webhook_endpoint_id'] ?? ''
  const endpoint = await lockEndpoint(tx, target)
  if (!endpoint) throw new Problem('resource_not_found')
  if (!from.includes(endpoint.status))
    throw new Problem('invalid_state_transition', { state: endpoint.status })
  const statusReason = status === 'active' ? null : `operator: ${why ?? 'no reason given'}`
  await setEndpointStatus(tx, target, { status, reason: statusReason, now })
  const answer = { ...endpoint, status, status_reason: statusReason, updated_at: now }
  return { answer, action: ACTIONS[status], target, details: { former_status: endpoint.status } }
}
