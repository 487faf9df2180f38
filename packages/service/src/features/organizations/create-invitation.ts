import { randomBytes } from 'node:crypto'
import { formatInvitation } from '@agent-exchange/crypto'
import type { Transaction } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { Context } from '../../kernel/context.ts'
import { orderedId } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import { findAgent } from '../agents/agent-store.ts'
import { requireOwnClients } from './external-clients.ts'
import {
  countOpenInvitations,
  findInvitation,
  insertInvitation,
  type InvitationRow,
} from './invitation-store.ts'
import { hashSecret } from './join.ts'
import { lockOrganization } from './organization-store.ts'

const SECRET_BYTES = 32
const MAXIMUM_OPEN = 1_000

export interface InvitationRequest {
  readonly organizationId: string
  readonly agentId: string | undefined
  readonly lifetimeSeconds: number
  readonly createdBy: string
  readonly now: string
}

/** The text is returned once and not stored: only the hash of its secret is. */
export async function createInvitation(
  tx: Transaction,
  { organizationId, agentId, lifetimeSeconds, createdBy, now }: InvitationRequest,
  context: Pick<Context, 'profile' | 'publicUrl' | 'externalIssuer'>,
): Promise<{ readonly row: InvitationRow; readonly text: string }> {
  const { profile, publicUrl } = context
  requireOwnClients(context)
  // A client of the platform's organization could register keys that sign on behalf of the platform.
  if (organizationId === profile['O-42'].organization_id) throw new Problem('not_permitted')
  const organization = await lockOrganization(tx, organizationId)
  if (!organization) throw new Problem('resource_not_found')
  if (organization.status !== 'active')
    throw new Problem('invalid_state_transition', { state: organization.status })
  const agent = agentId === undefined ? undefined : await findAgent(tx, agentId)
  if (agent && agent.organization_id !== organizationId) throw new Problem('identifier_conflict')
  if ((await countOpenInvitations(tx, { organizationId, now, limit: MAXIMUM_OPEN })) >= MAXIMUM_OPEN)
    throw new Problem('quota_reached', { quota: 'open_invitations', maximum: MAXIMUM_OPEN })
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const invitationId = orderedId('invitation', now)
  const expiresAt = secondsAfter(now, lifetimeSeconds)
  const secretHash = hashSecret(secret)
  await insertInvitation(tx, { invitationId, organizationId, agentId, secretHash, createdBy, expiresAt, now })
  const row = await findInvitation(tx, invitationId)
  if (!row) throw new Error('the invitation that was just written is missing')
  const text = formatInvitation({
    baseUrl: publicUrl,
    organizationId,
    ...(agentId !== undefined && { agentId }),
    expiresAt,
    secret,
  })
  return { row, text }
}
