import {
  extendLease as extend,
  failItem,
  failureContext,
  finishItem,
  type LeaseOutcome,
} from '../../inbox/inbox-items.ts'
import { GatewayProblem } from '../../problems.ts'
import { agentIdsOf, type Call, type Handler } from '../call.ts'

type Settles = 'finishLease' | 'failLease' | 'extendLease'

const leaseOf = <Id extends Settles>(call: Call<Id>) => ({
  agentIds: agentIdsOf(call),
  itemId: call.path['item_id'] ?? '',
  leaseToken: (call.body as { readonly lease_token: string }).lease_token,
})

/** An item of another agent and an unknown one answer alike. */
function requireSettled(outcome: LeaseOutcome): void {
  if (outcome === 'missing') throw new GatewayProblem('resource_not_found')
  if (outcome === 'stale') throw new GatewayProblem('lease_stale')
}

export const finishLease: Handler<'finishLease'> = async (call) => {
  const lease = leaseOf(call)
  requireSettled(await finishItem(call.parts.db, lease))
  return { body: { item_id: lease.itemId } }
}

export const failLease: Handler<'failLease'> = async (call) => {
  const lease = leaseOf(call)
  const { db, box } = call.parts
  const wrapped = box.wrap(failureContext(lease.itemId), Buffer.from(call.body.reason))
  requireSettled(await failItem(db, lease, { wrapped }))
  return { body: { item_id: lease.itemId } }
}

export const extendLease: Handler<'extendLease'> = async (call) => {
  const lease = leaseOf(call)
  const { outcome, leaseEndsAt } = await extend(call.parts.db, lease, call.body.visibility)
  requireSettled(outcome)
  return { body: { item_id: lease.itemId, lease_ends_at: leaseEndsAt } }
}
