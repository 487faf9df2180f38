import { agentId as agentForm, organizationId as organizationForm } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import { DAY_SECONDS } from '@agent-exchange/server/clock'
import { createInvitation } from '../../features/organizations/create-invitation.ts'
import {
  findInvitation,
  listInvitations,
  lockInvitation,
  markInvitationRevoked,
  type InvitationRow,
} from '../../features/organizations/invitation-store.ts'
import { lockOrganization } from '../../features/organizations/organization-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, type Route } from '../route.ts'

const SHORTEST_SECONDS = 60
const LONGEST_SECONDS = 30 * DAY_SECONDS

const newInvitation = input({
  organization_id: organizationForm,
  agent_id: Type.Optional(agentForm),
  expires_in_seconds: Type.Optional(Type.Integer({ minimum: SHORTEST_SECONDS, maximum: LONGEST_SECONDS })),
  reason: optionalReason,
})

export const createOneInvitation = change(
  '/invitations',
  { body: newInvitation, status: 201 },
  async ({ input: body, actor, now, context }, tx) => {
    const { organization_id: organizationId, agent_id: agentId, expires_in_seconds = DAY_SECONDS } = body
    const { row, text } = await createInvitation(
      tx,
      { organizationId, agentId, lifetimeSeconds: expires_in_seconds, createdBy: actor, now },
      context,
    )
    const answer = { ...toInvitation(row, now), invitation: text }
    const details = { organization_id: organizationId, agent_id: agentId, expires_at: row.expires_at }
    return { answer, action: 'invitation.create', target: row.invitation_id, details }
  },
)

export const readInvitations = read(
  '/invitations',
  input({ ...pageFields, organization_id: filter }),
  (call, db) => {
    const organizationId = call.input.organization_id
    const rows = (before: string | undefined, limit: number) =>
      listInvitations(db, { organizationId, before, limit })
    const listing = {
      name: ['invitations', organizationId],
      rows,
      position: (row: InvitationRow) => row.invitation_id,
    }
    return listPage(call, listing, (row) => toInvitation(row, call.now))
  },
)

export const readInvitation = read('/invitations/:invitation_id', input({}), async ({ params, now }, db) => {
  const row = await findInvitation(db, params['invitation_id'] ?? '')
  if (!row) throw new Problem('resource_not_found')
  return toInvitation(row, now)
})

export const revokeInvitation = change(
  '/invitations/:invitation_id/revoke',
  { body: input({ reason }) },
  async ({ params, now }, tx) => {
    const row = await lockWithOrganization(tx, params['invitation_id'] ?? '')
    const { state } = toInvitation(row, now)
    // A used invitation has done its work: disable its client instead.
    if (state === 'used' || state === 'revoked') throw new Problem('invalid_state_transition', { state })
    await markInvitationRevoked(tx, row.invitation_id, now)
    const answer = toInvitation({ ...row, revoked_at: now }, now)
    return { answer, action: 'invitation.revoke', target: row.invitation_id }
  },
)

export const invitationRoutes: readonly Route[] = [
  createOneInvitation,
  readInvitations,
  readInvitation,
  revokeInvitation,
]

/** In the order of joinByInvitation, which excludes deadlocks. */
async function lockWithOrganization(tx: Transaction, invitationId: string): Promise<InvitationRow> {
  const found = await findInvitation(tx, invitationId)
  if (found) await lockOrganization(tx, found.organization_id)
  const row = await lockInvitation(tx, invitationId)
  if (!row) throw new Problem('resource_not_found')
  return row
}

function toInvitation(row: InvitationRow, now: string) {
  const { agent_id, revoked_at, used_at, client_id, used_agent_id, client_thumbprint, ...invitation } = row
  return {
    ...invitation,
    state: stateOf(row, now),
    ...(agent_id !== null && { agent_id }),
    ...(revoked_at !== null && { revoked_at }),
    ...(used_at !== null && { used_at, client_id, used_agent_id, client_thumbprint }),
  }
}

function stateOf({ used_at, revoked_at, expires_at }: InvitationRow, now: string) {
  if (used_at !== null) return 'used'
  if (revoked_at !== null) return 'revoked'
  return expires_at <= now ? 'expired' : 'open'
}
