import type { Queries } from '../db/database.ts'

/** An active client with its credential. */
export interface ActiveClient {
  readonly client_id: string
  readonly organization_id: string
  readonly agent_id: string | null
  readonly authentication: 'private_key_jwt' | 'tls_client_auth' | 'self_signed_tls_client_auth'
  readonly public_jwk: string | null
  readonly certificate: string | null
  readonly tls_san_dns: string | null
  /** Becomes a claim of the token, which names the credential that the client authenticated with. */
  readonly credential_version: number
}

/** Visible ASCII (RFC 6749 appendix A.1). Anything else cannot be a client id and is not queried. */
const CLIENT_ID = /^[\x21-\x7e]{1,256}$/

/** Queried for each request, so that disabling a client or suspending an organization takes effect immediately. */
export async function findActiveClient(
  queries: Queries,
  clientId: string,
): Promise<ActiveClient | undefined> {
  if (!CLIENT_ID.test(clientId)) return undefined
  const [client] = await queries<ActiveClient[]>`
    select client_id, organization_id, agent_id, authentication, public_jwk, certificate, tls_san_dns,
      credential_version
    from oauth_client join organization using (organization_id)
    where client_id = ${clientId} and oauth_client.status = 'active' and organization.status = 'active'`
  return client
}
