import type { Database, Queries } from '@agent-exchange/database'
import { setCertificateExpiry } from './client-store.ts'

/** Clients of earlier releases in one step. */
const FILLED_AT_ONCE = 500
const MAXIMUM_STEPS = 20

export interface ExpiringClient {
  readonly client_id: string
  readonly organization_id: string
  readonly organization_name: string
  readonly certificate_expires_at: string
}

/** Active clients of active organizations, the earliest end first. */
export async function listExpiringClients(
  queries: Queries,
  before: string,
  limit: number,
): Promise<ExpiringClient[]> {
  return queries<ExpiringClient[]>`
    select client_id, organization_id, name as organization_name, certificate_expires_at
    from oauth_client join organization using (organization_id)
    where certificate is not null and certificate_expires_at <= ${before}
      and oauth_client.status = 'active' and organization.status = 'active'
    order by certificate_expires_at, client_id limit ${limit}`
}

/** Fills the end of certificates that an earlier release stored. */
export async function fillCertificateExpiry(db: Database): Promise<number> {
  let filled = 0
  for (let step = 0; step < MAXIMUM_STEPS; step++) {
    const rows = await db<{ client_id: string; certificate: string }[]>`
      select client_id, certificate from oauth_client
      where certificate is not null and certificate_expires_at is null limit ${FILLED_AT_ONCE}`
    for (const { client_id: clientId, certificate } of rows)
      await setCertificateExpiry(db, { clientId, certificate })
    filled += rows.length
    if (rows.length < FILLED_AT_ONCE) break
  }
  return filled
}
