import { X509Certificate } from 'node:crypto'
import type { PublicJwk } from '@agent-exchange/crypto'
import { decodeProtectedHeader } from 'jose'
import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider'
import type { Database } from '../db/database.ts'
import { useAssertion } from './assertion-use.ts'
import { type ActiveClient, findActiveClient } from './client-store.ts'
import { ASSERTION_ALGORITHMS } from './metadata.ts'

/** Names of our own members in a client's metadata; they become claims. */
export const CLAIMS = ['organization_id', 'agent_id', 'credential_version'] as const

/** oidc-provider's storage. Client credentials need two of its kinds; all others stay unused. */
export function providerAdapter(db: Database): (kind: string) => Adapter {
  return (kind) => {
    if (kind === 'Client') return { ...unused(kind), find: (id) => findClient(db, id) }
    if (kind === 'ReplayDetection') return replayDetection(db)
    return unused(kind)
  }
}

async function findClient(db: Database, id: string): Promise<AdapterPayload | undefined> {
  const client = await findActiveClient(db, id)
  return client && clientMetadata(client)
}

/**
 * `find` and `upsert` are two steps, and between them others pass: 4 of 8 concurrent uses of one assertion did.
 * So `find` never finds, and the insert decides.
 */
function replayDetection(db: Database): Adapter {
  return {
    ...unused('ReplayDetection'),
    find: () => Promise.resolve(undefined),
    async upsert(id, payload) {
      const expiresAt = new Date((payload.exp ?? 0) * 1_000).toISOString()
      const fresh = await useAssertion(db, { clientId: payload.iss ?? '', assertionId: id, expiresAt })
      if (!fresh) throw new errors.InvalidClientAuth('client assertion was used before')
    },
  }
}

function clientMetadata(client: ActiveClient): AdapterPayload {
  return {
    client_id: client.client_id,
    organization_id: client.organization_id,
    credential_version: client.credential_version,
    ...(client.agent_id !== null && { agent_id: client.agent_id }),
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: client.authentication,
    ...CREDENTIALS[client.authentication](client),
  }
}

const CREDENTIALS: Record<ActiveClient['authentication'], (client: ActiveClient) => AdapterPayload> = {
  private_key_jwt: ({ public_jwk }) => ({
    token_endpoint_auth_signing_alg: ASSERTION_ALGORITHMS[0],
    jwks: { keys: [assertionKey(public_jwk ?? 'null')] },
  }),
  tls_client_auth: ({ tls_san_dns }) => ({ tls_client_auth_san_dns: tls_san_dns ?? '' }),
  self_signed_tls_client_auth: ({ certificate }) => ({ jwks: { keys: [certificateJwk(certificate ?? '')] } }),
}

/**
 * A client has one key, so a key id in its assertion chooses nothing (RFC 7515 section 4.1.4: it is a hint). The
 * library would look for it all the same, and libraries of clients name their keys as they please.
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

/** RFC 8705 section 2.2.2: the exact certificate, as x5c beside its key. */
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
