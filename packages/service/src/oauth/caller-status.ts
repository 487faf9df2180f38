import type { Queries } from '../db/database.ts'
import type { Caller } from '../kernel/call.ts'
import { Problem } from '../kernel/problem.ts'

/** Who issues tokens: we, or the outside server that AEX_ISSUER names. */
export type IssuerKind = 'embedded' | 'outside'

/**
 * DESIGN section 5: a token that was issued to somebody who has been suspended since is worth nothing. Clients
 * of an outside issuer have no row here; for them the organization alone decides.
 */
export async function assertCallerActive(
  queries: Queries,
  { organizationId, clientId }: Caller,
  issuer: IssuerKind,
): Promise<void> {
  const [row] = await queries<{ organization: string; client: string | null }[]>`
    select organization.status as organization, oauth_client.status as client
    from organization left join oauth_client
      on oauth_client.client_id = ${clientId} and oauth_client.organization_id = organization.organization_id
    where organization.organization_id = ${organizationId}`
  const clientCounts = issuer === 'embedded'
  if (row?.organization !== 'active' || (clientCounts && row.client !== 'active')) {
    throw new Problem('caller_suspended')
  }
}
