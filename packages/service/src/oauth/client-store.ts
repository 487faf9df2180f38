import type { TokenRefusalCode } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'

/** A client with its credential. */
export interface StoredClient {
  readonly client_id: string
  readonly organization_id: string
  readonly agent_id: string | null
  readonly authentication: 'private_key_jwt' | 'tls_client_auth' | 'self_signed_tls_client_auth'
  readonly public_jwk: string | null
  readonly certificate: string | null
  readonly tls_san_dns: string | null
  /** Becomes a claim of the token, which names the credential that the client authenticated with. */
  readonly credential_version: number
  /** Why it gets no token, once it has proved that it is this client. */
  readonly refusal: TokenRefusalCode | null
}

/** Visible ASCII (RFC 6749 appendix A.1). Anything else cannot be a client id and is not queried. */
const CLIENT_ID = /^[\x21-\x7e]{1,256}$/

/** Queried for each request, so that disabling a client or suspending an organization takes effect immediately. */
export async function findClient(queries: Queries, clientId: string): Promise<StoredClient | undefined> {
  if (!CLIENT_ID.test(clientId)) return undefined
  const [client] = await queries<StoredClient[]>`
    select client_id, organization_id, agent_id, authentication, public_jwk, certificate, tls_san_dns,
      credential_version,
      case when organization.status = 'suspended' then 'organization_suspended'
        when organization.status <> 'active' then 'organization_ended'
        when oauth_client.status <> 'active' then 'client_disabled' end as refusal
    from oauth_client join organization using (organization_id)
    where client_id = ${clientId}`
  return client
}
