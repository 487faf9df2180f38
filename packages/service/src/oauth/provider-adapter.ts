import { X509Certificate } from 'node:crypto'
import type { PublicJwk } from '@agent-exchange/crypto'
import { decodeProtectedHeader } from 'jose'
import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider'
import type { Database } from '@agent-exchange/database'
import { recordAssertion } from './assertion-use.ts'
import { findClient, type StoredClient } from './client-store.ts'
import { ASSERTION_ALGORITHMS } from './metadata.ts'

/** Our own members of the client metadata, which become claims. */
export const CLAIMS = ['organization_id', 'agent_id', 'credential_version'] as const

/** Our member of the client metadata that refuses a token after authentication. */
export const REFUSAL = 'token_refusal'

/** Storage adapter of oidc-provider. The client credentials grant needs two of its models only. */
export function providerAdapter(db: Database): (kind: string) => Adapter {
  return (kind) => {
    if (kind === 'Client') return { ...unused(kind), find: (id) => findMetadata(db, id) }
    if (kind === 'ReplayDetection') return replayDetection(db)
    return unused(kind)
  }
}

async function findMetadata(db: Database, id: string): Promise<AdapterPayload | undefined> {
  const client = await findClient(db, id)
  return client && clientMetadata(client)
}

/** A separate `find` and `upsert` would be a race between concurrent uses of an assertion, so the insert alone decides. */
function replayDetection(db: Database): Adapter {
  return {
    ...unused('ReplayDetection'),
    find: () => Promise.resolve(undefined),
    async upsert(id, payload) {
      const expiresAt = new Date((payload.exp ?? 0) * 1_000).toISOString()
      const fresh = await recordAssertion(db, { clientId: payload.iss ?? '', assertionId: id, expiresAt })
      if (!fresh) throw new errors.InvalidClientAuth('client assertion was used before')
    },
  }
}

function clientMetadata(client: StoredClient): AdapterPayload {
  return {
    client_id: client.client_id,
    organization_id: client.organization_id,
    credential_version: client.credential_version,
    ...(client.agent_id !== null && { agent_id: client.agent_id }),
    ...(client.refusal !== null && { [REFUSAL]: client.refusal }),
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: client.authentication,
    ...CREDENTIALS[client.authentication](client),
  }
}

const CREDENTIALS: Record<StoredClient['authentication'], (client: StoredClient) => AdapterPayload> = {
  private_key_jwt: ({ public_jwk }) => ({
    token_endpoint_auth_signing_alg: ASSERTION_ALGORITHMS[0],
    jwks: { keys: [assertionKey(public_jwk ?? 'null')] },
  }),
  tls_client_auth: ({ tls_san_dns }) => ({ tls_client_auth_san_dns: tls_san_dns ?? '' }),
  self_signed_tls_client_auth: ({ certificate }) => ({ jwks: { keys: [certificateJwk(certificate ?? '')] } }),
}

/**
 * A client has one key, so its key id in the assertion is only a hint (RFC 7515 section 4.1.4). The library would
 * require a match, so the stored key gets the asserted id.
 */
function assertionKey(stored: string) {
  const { kty, crv, x, y } = JSON.parse(stored) as PublicJwk
  const kid = assertedKeyId(Provider.ctx?.oidc.params?.['client_assertion'])
  return { kty, crv, x, y, ...(kid !== undefined && { kid }) }
}

function assertedKeyId(assertion: unknown): string | undefined {
  if (typeof assertion !== 'string') return undefined
  try {
    return decodeProtectedHeader(assertion).kid
  } catch {
    return undefined
  }
}

/** RFC 8705 section 2.2.2: the exact certificate as the x5c member of its JWK. */
function certificateJwk(pem: string) {
  const certificate = new X509Certificate(pem)
  const jwk = certificate.publicKey.export({ format: 'jwk' })
  return { ...jwk, x5c: [certificate.raw.toString('base64')] }
}

function unused(kind: string): Adapter {
  const refuse = () => Promise.reject(new Error(`${kind} is not stored here`))
  return {
    upsert: refuse,
    find: refuse,
    findByUserCode: refuse,
    findByUid: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  }
}
