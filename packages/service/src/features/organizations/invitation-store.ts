import { fragment, type Queries, type Transaction } from '@agent-exchange/database'

/** Table invitation, without the hash of the secret. */
export interface InvitationRow {
  readonly invitation_id: string
  readonly organization_id: string
  readonly agent_id: string | null
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string
  readonly revoked_at: string | null
  readonly used_at: string | null
  readonly client_id: string | null
  readonly used_agent_id: string | null
  readonly client_thumbprint: string | null
}

export interface NewInvitation {
  readonly invitationId: string
  readonly organizationId: string
  readonly agentId: string | undefined
  readonly secretHash: Uint8Array
  readonly createdBy: string
  readonly expiresAt: string
  readonly now: string
}

export async function insertInvitation(tx: Transaction, invitation: NewInvitation): Promise<void> {
  await tx`
    insert into invitation (invitation_id, organization_id, agent_id, secret_hash, created_at, created_by, expires_at)
    values (${invitation.invitationId}, ${invitation.organizationId}, ${invitation.agentId ?? null},
      ${Buffer.from(invitation.secretHash)}, ${invitation.now}, ${invitation.createdBy}, ${invitation.expiresAt})`
}

/** Invitations of an organization that can still be used, up to a limit. */
export async function countOpenInvitations(
  tx: Transaction,
  { organizationId, now, limit }: { organizationId: string; now: string; limit: number },
): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from (
      select from invitation
      where organization_id = ${organizationId} and used_at is null and revoked_at is null and expires_at > ${now}
      limit ${limit}) as open`
  return row?.count ?? 0
}

/** The organization and id behind a secret. Lock the organization before the invitation. */
export async function findBySecret(
  db: Queries,
  secretHash: Uint8Array,
): Promise<Pick<InvitationRow, 'invitation_id' | 'organization_id'> | undefined> {
  const [row] = await db<InvitationRow[]>`
    select invitation_id, organization_id from invitation where secret_hash = ${Buffer.from(secretHash)}`
  return row
}

export async function findInvitation(db: Queries, invitationId: string): Promise<InvitationRow | undefined> {
  const [row] = await db<InvitationRow[]>`
    select invitation_id, organization_id, agent_id, created_at, created_by, expires_at, revoked_at, used_at,
      client_id, used_agent_id, client_thumbprint
    from invitation where invitation_id = ${invitationId}`
  return row
}

export async function lockInvitation(
  tx: Transaction,
  invitationId: string,
): Promise<InvitationRow | undefined> {
  const [row] = await tx<InvitationRow[]>`
    select invitation_id, organization_id, agent_id, created_at, created_by, expires_at, revoked_at, used_at,
      client_id, used_agent_id, client_thumbprint
    from invitation where invitation_id = ${invitationId} for update`
  return row
}

export interface InvitationUse {
  readonly clientId: string
  readonly agentId: string
  readonly thumbprint: string
  readonly now: string
}

export async function markUsed(tx: Transaction, invitationId: string, use: InvitationUse): Promise<void> {
  await tx`
    update invitation set used_at = ${use.now}, client_id = ${use.clientId}, used_agent_id = ${use.agentId},
      client_thumbprint = ${use.thumbprint}
    where invitation_id = ${invitationId}`
}

export async function markInvitationRevoked(
  tx: Transaction,
  invitationId: string,
  now: string,
): Promise<void> {
  await tx`update invitation set revoked_at = ${now} where invitation_id = ${invitationId}`
}

/** Newest first. */
export async function listInvitations(
  db: Queries,
  {
    organizationId,
    before,
    limit,
  }: { organizationId: string | undefined; before: string | undefined; limit: number },
): Promise<InvitationRow[]> {
  return db<InvitationRow[]>`
    select invitation_id, organization_id, agent_id, created_at, created_by, expires_at, revoked_at, used_at,
      client_id, used_agent_id, client_thumbprint
    from invitation
    where true ${organizationId === undefined ? fragment`` : fragment`and organization_id = ${organizationId}`}
      ${before === undefined ? fragment`` : fragment`and invitation_id < ${before}`}
    order by invitation_id desc limit ${limit}`
}

/** At most `limit` of them. @returns the number of rows */
export async function removeInvitationsOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const { count } = await tx`
    delete from invitation where invitation_id in (
      select invitation_id from invitation where organization_id = ${organizationId} limit ${limit})`
  return count
}
