import type { Queries, Transaction } from '@agent-exchange/database'
import { expiryOf } from '../overview/certificate-expiry.ts'

/** By what a client proves who it is: one of the three, never two. */
export type ClientCredential =
  | {
      readonly authentication: 'private_key_jwt'
      readonly public_jwk: string
      /** RFC 7638. */
      readonly key_thumbprint: string
    }
  | { readonly authentication: 'self_signed_tls_client_auth'; readonly certificate: string }
  | { readonly authentication: 'tls_client_auth'; readonly tls_san_dns: string }

/** Table oauth_client, as the operator sees it; the authorization server reads it in its own way. */
export interface ClientRow {
  readonly client_id: string
  readonly organization_id: string
  readonly agent_id: string | null
  readonly authentication: ClientCredential['authentication']
  /** JSON text. */
  readonly public_jwk: string | null
  readonly certificate: string | null
  readonly tls_san_dns: string | null
  readonly status: 'active' | 'disabled'
  readonly created_at: string
}

export interface NewClient {
  readonly clientId: string
  readonly organizationId: string
  readonly agentId: string | undefined
  readonly credential: ClientCredential
  readonly now: string
}

export async function insertClient(tx: Transaction, client: NewClient): Promise<void> {
  const { authentication, public_jwk, key_thumbprint, certificate, tls_san_dns } = columnsOf(
    client.credential,
  )
  const expiresAt = expiryOf(certificate ?? undefined)
  await tx`
    insert into oauth_client (client_id, organization_id, agent_id, authentication, public_jwk, key_thumbprint,
      certificate, tls_san_dns, certificate_expires_at, created_at)
    values (${client.clientId}, ${client.organizationId}, ${client.agentId ?? null}, ${authentication},
      ${public_jwk}, ${key_thumbprint}, ${certificate}, ${tls_san_dns}, ${expiresAt}, ${client.now})`
}

export async function findClient(db: Queries, clientId: string): Promise<ClientRow | undefined> {
  const [row] = await db<ClientRow[]>`
    select client_id, organization_id, agent_id, authentication, public_jwk, certificate, tls_san_dns, status,
      created_at
    from oauth_client where client_id = ${clientId}`
  return row
}

export async function lockClient(tx: Transaction, clientId: string): Promise<ClientRow | undefined> {
  const [row] = await tx<ClientRow[]>`
    select client_id, organization_id, agent_id, authentication, public_jwk, certificate, tls_san_dns, status,
      created_at
    from oauth_client where client_id = ${clientId} for update`
  return row
}

export async function disableClient(tx: Transaction, clientId: string): Promise<void> {
  await tx`update oauth_client set status = 'disabled' where client_id = ${clientId}`
}

/** The former credential is gone with this, and with it the tokens that were issued to it. */
export async function replaceCredential(
  tx: Transaction,
  clientId: string,
  credential: ClientCredential,
): Promise<void> {
  const { authentication, public_jwk, key_thumbprint, certificate, tls_san_dns } = columnsOf(credential)
  await tx`
    update oauth_client set authentication = ${authentication}, public_jwk = ${public_jwk},
      key_thumbprint = ${key_thumbprint}, certificate = ${certificate}, tls_san_dns = ${tls_san_dns},
      certificate_expires_at = ${expiryOf(certificate ?? undefined)}, credential_version = credential_version + 1
    where client_id = ${clientId}`
}

export async function listClients(
  db: Queries,
  {
    organizationId,
    after,
    limit,
  }: { organizationId: string | undefined; after: string | undefined; limit: number },
): Promise<ClientRow[]> {
  return db<ClientRow[]>`
    select client_id, organization_id, agent_id, authentication, public_jwk, certificate, tls_san_dns, status,
      created_at
    from oauth_client
    where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and client_id > ${after ?? ''}
    order by client_id limit ${limit}`
}

/** Whether any client, disabled ones included, acts as this agent only. */
export async function hasClientOfAgent(tx: Transaction, agentId: string): Promise<boolean> {
  const rows = await tx`select from oauth_client where agent_id = ${agentId} limit 1`
  return rows.length > 0
}

/** Clients whose key was registered by a release that stored no thumbprint. */
export async function lockWithoutThumbprint(
  tx: Transaction,
  limit: number,
): Promise<{ readonly client_id: string; readonly public_jwk: string }[]> {
  return tx<{ client_id: string; public_jwk: string }[]>`
    select client_id, public_jwk from oauth_client where public_jwk is not null and key_thumbprint is null
    order by client_id limit ${limit} for update skip locked`
}

export async function setThumbprints(
  tx: Transaction,
  thumbprints: readonly (readonly [clientId: string, thumbprint: string])[],
): Promise<void> {
  const rows = thumbprints.map(([client_id, thumbprint]) => ({ client_id, thumbprint }))
  await tx`
    update oauth_client set key_thumbprint = filled.thumbprint
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as filled (client_id text, thumbprint text)
    where oauth_client.client_id = filled.client_id`
}

/** Unless the certificate has been replaced meanwhile. */
export async function setCertificateExpiry(
  db: Queries,
  { clientId, certificate }: { clientId: string; certificate: string },
): Promise<void> {
  await db`
    update oauth_client set certificate_expires_at = ${expiryOf(certificate)}
    where client_id = ${clientId} and certificate = ${certificate}`
}

/** At most `limit` of them. @returns the number of rows */
export async function removeClientsOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const { count } = await tx`
    delete from oauth_client where client_id in (
      select client_id from oauth_client where organization_id = ${organizationId} limit ${limit})`
  return count
}

function columnsOf(credential: ClientCredential) {
  return { public_jwk: null, key_thumbprint: null, certificate: null, tls_san_dns: null, ...credential }
}
