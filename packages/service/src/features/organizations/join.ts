import { createHash } from 'node:crypto'
import type { JoinedClient } from '@agent-exchange/protocol'
import { type Database, inTransaction, type Transaction } from '@agent-exchange/database'
import type { NewId } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import { findAgent } from '../agents/agent-store.ts'
import { readCredential } from './client-credential.ts'
import { hasClientOfAgent, insertClient, type ClientCredential } from './client-store.ts'
import { findBySecret, lockInvitation, markUsed, type InvitationRow } from './invitation-store.ts'
import { appendToLog } from '../operators/operator-log-store.ts'
import { lockOrganization } from './organization-store.ts'

export interface JoinRequest {
  readonly secret: string
  readonly agentId: string
  readonly publicJwk: object
}

/** A secret of 256 random bits needs neither salt nor a slow hash. */
export function hashSecret(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest()
}

/**
 * Registers one client. The first key wins, and may repeat its request. An invitation that is unknown, used, expired,
 * revoked, or of an organization that is not active gets one problem, so that an attacker learns nothing.
 */
export async function joinByInvitation(
  db: Database,
  { secret, agentId, publicJwk }: JoinRequest,
  { now, newId }: { readonly now: string; readonly newId: NewId },
): Promise<JoinedClient> {
  const credential = await readCredential({ public_jwk: publicJwk })
  const thumbprint = thumbprintOf(credential)
  return inTransaction(db, async (tx) => {
    const invitation = await lockUsable(tx, hashSecret(secret))
    const { invitation_id, organization_id, used_at } = invitation
    if (used_at !== null) return repeat(invitation, { agentId, thumbprint })
    if (invitation.revoked_at !== null || invitation.expires_at <= now) throw refused()
    if (invitation.agent_id !== null && invitation.agent_id !== agentId) throw refused()
    await requireFreeAgent(tx, invitation, agentId)
    const clientId = newId('client')
    await insertClient(tx, { clientId, organizationId: organization_id, agentId, credential, now })
    await markUsed(tx, invitation_id, { clientId, agentId, thumbprint, now })
    await appendToLog(tx, {
      // No operator's name contains a blank.
      actor: `invitation ${invitation_id}`,
      action: 'client.join',
      target: clientId,
      reason: undefined,
      details: { invitation_id, organization_id, agent_id: agentId, thumbprint },
      now,
    })
    return { client_id: clientId, organization_id, agent_id: agentId }
  })
}

/** The lock of the organization also excludes its suspension, its end, and other invitations for the same agent. */
async function lockUsable(tx: Transaction, secretHash: Uint8Array): Promise<InvitationRow> {
  const found = await findBySecret(tx, secretHash)
  if (!found) throw refused()
  const organization = await lockOrganization(tx, found.organization_id)
  const invitation = await lockInvitation(tx, found.invitation_id)
  if (organization?.status !== 'active' || !invitation) throw refused()
  return invitation
}

function repeat(
  { organization_id, client_id, used_agent_id, client_thumbprint }: InvitationRow,
  { agentId, thumbprint }: { agentId: string; thumbprint: string },
): JoinedClient {
  if (client_id === null || used_agent_id !== agentId || client_thumbprint !== thumbprint) throw refused()
  return { client_id, organization_id, agent_id: agentId }
}

/** Without a named agent, the holder must not become a colleague's agent, registered or about to be. */
async function requireFreeAgent(
  tx: Transaction,
  { organization_id, agent_id }: InvitationRow,
  agentId: string,
): Promise<void> {
  const agent = await findAgent(tx, agentId)
  const isTaken =
    agent_id === null
      ? agent !== undefined || (await hasClientOfAgent(tx, agentId))
      : agent !== undefined && agent.organization_id !== organization_id
  if (isTaken) throw new Problem('identifier_conflict')
}

function thumbprintOf(credential: ClientCredential): string {
  if (credential.authentication !== 'private_key_jwt') throw new Error('the credential is not a JWK')
  return credential.key_thumbprint
}

function refused(): Problem {
  return new Problem('invitation_refused')
}
