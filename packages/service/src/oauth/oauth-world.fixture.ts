// What the tests beside this file share; it holds none itself.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generateKeyPair, jwkThumbprint, type PrivateJwk } from '@agent-exchange/crypto'
import { createProfile, DEFAULT_PROFILE, type DeploymentProfile } from '@agent-exchange/protocol'
import { type Identity, openTestDatabase, type TestAuthority } from '@agent-exchange/testkit'
import { SignJWT, importJWK } from 'jose'
import type { Database } from '@agent-exchange/database'
import { type Clock, systemClock } from '@agent-exchange/server/clock'
import { RESOURCE_METADATA_PATH } from '@agent-exchange/server/issuer'
import { randomId } from '../kernel/ids.ts'
import { platformIdentity } from '../features/agents/platform-identity.ts'
import { openPlatformKeys, type PlatformKeys } from '../platform-keys/platform-keys.ts'
import { Problem } from '../kernel/problem.ts'
import { createAuthorizationServer, type TokenRefusal } from './authorization-server.ts'
import { createCallerStatus } from './caller-status.ts'
import { bearerChallenge } from './challenge.ts'
import { createCertificateReader } from './client-certificate.ts'
import { protectedResourceMetadata } from './metadata.ts'
import { embeddedIssuer, type TokenIssuer } from './token-keys.ts'
import { createTokenVerifier } from './token-verifier.ts'

const NOW = '2026-01-01T00:00:00.000Z'
export const MASTER_KEY = Buffer.alloc(32, 7)

export interface Exchange extends AsyncDisposable {
  /** {base_url} */
  readonly url: string
  /** The URL that the server listens on. */
  readonly listenUrl: string
  readonly db: Database
  readonly keys: PlatformKeys
  readonly refusals: TokenRefusal[]
  readonly errors: unknown[]
}

export interface ExchangeOptions {
  readonly authority?: TestAuthority
  readonly trustedProxies?: readonly string[]
  /** PEM text, for forwarded certificates. */
  readonly clientCa?: string
  readonly profile?: Parameters<typeof createProfile>[0]
  readonly clock?: Clock
  /** An external issuer instead of the embedded one. */
  readonly issuer?: TokenIssuer
  /** A fixed {base_url} that differs from the URL the server listens on. */
  readonly publicUrl?: string
}

export function profileOf(overrides?: unknown): DeploymentProfile {
  if (overrides === undefined) return DEFAULT_PROFILE
  const result = createProfile(overrides)
  assert.ok(result.ok)
  return result.profile
}

/** A database for one test file, with the organizations org_a and org_b. */
export async function openSeededDatabase(): Promise<{ db: Database } & AsyncDisposable> {
  const database = await openTestDatabase(12)
  for (const id of ['org_a', 'org_b'])
    await database.db`insert into organization (organization_id, name, created_at) values (${id}, ${id}, ${NOW})`
  return database
}

/** The authorization server and one protected route, GET /v1/caller, on a real listener. */
export async function startExchange(db: Database, options: ExchangeOptions = {}): Promise<Exchange> {
  const { authority, clock = systemClock, trustedProxies = [] } = options
  const profile = profileOf(options.profile)
  const listener = await listen(authority)
  const publicUrl = options.publicUrl ?? listener.url
  const keys = await openPlatformKeys({
    db,
    masterKeys: () => ({ current: MASTER_KEY }),
    profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
  const certificateOf = createCertificateReader({
    trustedProxies,
    clientCa: () => options.clientCa,
    clock,
  })
  const refusals: TokenRefusal[] = []
  const failures: unknown[] = []
  const server = createAuthorizationServer({
    db,
    publicUrl,
    profile,
    clock,
    certificateOf,
    tokenKeys: keys.tokenKeys,
    onError: (error) => failures.push(error),
    onRefusal: (refusal) => refusals.push(refusal),
  })
  const issuer = options.issuer ?? embeddedIssuer(publicUrl, keys.tokenKeys)
  const verify = createTokenVerifier({ issuer, publicUrl, profile, clock })
  const requireActive = createCallerStatus(db, options.issuer ? 'external' : 'embedded')
  const callerOf = async (request: IncomingMessage) => {
    const token = await verify(request.headers.authorization, certificateOf(request))
    await requireActive(token)
    return token.caller
  }
  listener.answerWith(async (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (server.handles(path)) return server.handle(request, response)
    if (path === RESOURCE_METADATA_PATH) {
      response.setHeader('Content-Type', 'application/json')
      return response.end(JSON.stringify(protectedResourceMetadata({ publicUrl, issuer: issuer.issuer })))
    }
    try {
      return response.end(JSON.stringify(await callerOf(request)))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      response.writeHead(401, { 'WWW-Authenticate': bearerChallenge(error.code, publicUrl) })
      return response.end(JSON.stringify({ code: error.code, details: error.details }))
    }
  })
  return {
    url: publicUrl,
    listenUrl: listener.url,
    db,
    keys,
    refusals,
    errors: failures,
    [Symbol.asyncDispose]: listener.close,
  }
}

const noAnswer = (): unknown => undefined

async function listen(authority: TestAuthority | undefined) {
  let answer: (...args: Parameters<RequestListener>) => unknown = noAnswer
  const listener: RequestListener = (request, response) => void answer(request, response)
  const identity = await authority?.server()
  const server =
    authority && identity
      ? createHttpsServer(
          {
            cert: identity.certificate,
            key: identity.key,
            ca: authority.certificate,
            requestCert: true,
            rejectUnauthorized: false,
          },
          listener,
        )
      : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${authority ? 'https' : 'http'}://127.0.0.1:${port}`,
    answerWith: (handler: typeof answer) => {
      answer = handler
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface TestClient {
  readonly clientId: string
  readonly key: PrivateJwk
}

/** A client that authenticates by private_key_jwt. */
export async function addKeyClient(
  db: Database,
  { organizationId = 'org_a', agentId = null as string | null } = {},
) {
  const { publicKey, privateJwk } = await generateKeyPair('signing')
  const clientId = randomId('client')
  await db`
    insert into oauth_client (client_id, organization_id, agent_id, authentication, public_jwk, key_thumbprint,
      created_at)
    values (${clientId}, ${organizationId}, ${agentId}, 'private_key_jwt', ${JSON.stringify(publicKey.jwk)},
      ${await jwkThumbprint(publicKey.jwk)}, ${NOW})`
  return { clientId, key: privateJwk } satisfies TestClient
}

export async function addCertificateClient(db: Database, { certificate }: Identity): Promise<string> {
  const clientId = randomId('client')
  await db`
    insert into oauth_client (client_id, organization_id, authentication, certificate, created_at)
    values (${clientId}, 'org_a', 'self_signed_tls_client_auth', ${certificate}, ${NOW})`
  return clientId
}

export async function addNamedClient(db: Database, name: string): Promise<string> {
  const clientId = randomId('client')
  await db`
    insert into oauth_client (client_id, organization_id, authentication, tls_san_dns, created_at)
    values (${clientId}, 'org_a', 'tls_client_auth', ${name}, ${NOW})`
  return clientId
}

export const seconds = () => Math.floor(Date.now() / 1_000)

/** A client assertion (RFC 7523). Given claims replace the valid ones; undefined removes them. */
export async function assertionOf(
  client: TestClient,
  audience: string,
  changes: Record<string, unknown> = {},
) {
  const claims = {
    iss: client.clientId,
    sub: client.clientId,
    aud: audience,
    jti: randomUUID(),
    iat: seconds(),
    exp: seconds() + 60,
    ...changes,
  }
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256' })
    .sign(await importJWK({ ...client.key }, 'ES256'))
}

export interface TokenAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, string>
}

/** Posts to the token endpoint directly, for requests that a client library would refuse to send. */
export async function postToken(
  url: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(text) as Record<string, string>,
  }
}

export function withAssertion(assertion: string): Record<string, string> {
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  }
}

/** Calls the protected route. */
export async function callWith(url: string, token: string | undefined, headers: Record<string, string> = {}) {
  const authorization: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/v1/caller`, { headers: { ...headers, ...authorization } })
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body }
}
