import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Queries, Transaction } from '@agent-exchange/database'
import { openStream } from '../notifications/notification-store.ts'

/** Table organization. */
export interface OrganizationRow {
  readonly organization_id: string
  readonly name: string
  readonly contact: string | null
  readonly status: 'active' | 'suspended' | 'ended'
  readonly created_at: string
}

export interface NewOrganization {
  readonly organizationId: string
  readonly name: string
  readonly contact: string | undefined
  readonly now: string
}

/** O-50. */
export type AcceptsFrom = DeploymentProfile['O-50']['accepts_from']

/** O-13. Null: the default of the deployment profile. */
export interface DailyQuotas {
  readonly packages_per_day: number | null
  readonly threads_per_day: number | null
}

/** With its notification stream, which is empty yet. Undefined where the id is taken. */
export async function insertOrganization(
  tx: Transaction,
  { organizationId, name, contact, now }: NewOrganization,
): Promise<OrganizationRow | undefined> {
  const [row] = await tx<OrganizationRow[]>`
    insert into organization (organization_id, name, contact, created_at)
    values (${organizationId}, ${name}, ${contact ?? null}, ${now})
    on conflict (organization_id) do nothing
    returning organization_id, name, contact, status, created_at`
  if (row) await openStream(tx, organizationId)
  return row
}

export async function findOrganization(
  db: Queries,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const [row] = await db<OrganizationRow[]>`
    select organization_id, name, contact, status, created_at from organization
    where organization_id = ${organizationId}`
  return row
}

/** Names for what is shown to people. An id that no organization has is left out. */
export async function findOrganizationNames(
  db: Queries,
  ids: readonly string[],
): Promise<{ readonly organization_id: string; readonly name: string }[]> {
  return db.byIndex<{ organization_id: string; name: string }[]>`
    select organization_id, name from organization where organization_id = any(${[...ids]}::text[]) order by organization_id`
}

export async function lockOrganization(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const [row] = await tx<OrganizationRow[]>`
    select organization_id, name, contact, status, created_at from organization
    where organization_id = ${organizationId} for no key update`
  return row
}

/** Those of the ids that an organization has. */
export async function existingOrganizations(
  queries: Queries,
  organizationIds: readonly string[],
): Promise<Set<string>> {
  const rows = await queries<{ organization_id: string }[]>`
    select organization_id from organization where organization_id = any(${[...organizationIds]})`
  return new Set(rows.map(({ organization_id }) => organization_id))
}

export async function setOrganizationStatus(
  tx: Transaction,
  organizationId: string,
  status: OrganizationRow['status'],
): Promise<void> {
  await tx`update organization set status = ${status} where organization_id = ${organizationId}`
}

export async function setContact(
  tx: Transaction,
  organizationId: string,
  contact: string | undefined,
): Promise<void> {
  await tx`update organization set contact = ${contact ?? null} where organization_id = ${organizationId}`
}

export async function setAcceptsFrom(
  tx: Transaction,
  organizationId: string,
  acceptsFrom: AcceptsFrom | null,
): Promise<void> {
  await tx`update organization set accepts_from = ${acceptsFrom} where organization_id = ${organizationId}`
}

export async function setDailyQuotas(
  tx: Transaction,
  organizationId: string,
  { packages_per_day, threads_per_day }: DailyQuotas,
): Promise<void> {
  await tx`
    update organization set packages_per_day = ${packages_per_day}, threads_per_day = ${threads_per_day}
    where organization_id = ${organizationId}`
}

/** @returns whether there was a contact */
export async function removeContactOf(tx: Transaction, organizationId: string): Promise<boolean> {
  const { count } = await tx`
    update organization set contact = null where organization_id = ${organizationId} and contact is not null`
  return count > 0
}

export async function listOrganizations(
  db: Queries,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<OrganizationRow[]> {
  return db<OrganizationRow[]>`
    select organization_id, name, contact, status, created_at from organization
    where organization_id > ${after ?? ''} order by organization_id limit ${limit}`
}
