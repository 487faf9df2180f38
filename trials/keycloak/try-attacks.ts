import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { ExchangeError } from '@agent-exchange/sdk'
import { createContext } from '../../packages/sdk/src/create-context.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { assertRefused, callWith } from './call-exchange.ts'
import { exampleRealm, withClientKey, type Realm, type RealmClient } from './keycloak-admin.ts'
import { FOREIGN_REALM, REALM, type KeycloakWorld } from './keycloak-world.ts'
import { encodePart, readToken } from './token-parts.ts'

const OTHER_SERVICE = 'https://other-service.example'

/** Tokens that Keycloak issued or an attacker made, and that the exchange must refuse. */
export async function tryAttacks(given: KeycloakWorld, report: TrialTools['report']): Promise<void> {
  const { keycloak, bolt, acme, fetchAs } = given
  await report.step('attack', 'certificate of another client', async () => {
    const token = await bolt.connection.token()
    const mallory = await fetchAs('agent.mallory.example')
    assertRefused(await callWith(given, token), 'client_certificate_mismatch')
    assertRefused(await callWith(given, token, mallory), 'client_certificate_mismatch')
    const impostor = createContext({ ...bolt.options, fetch: mallory })
    await assert.rejects(impostor.connection.token(), isTokenRefused)
    return 'no token for it, and a stolen token is refused'
  })
  await report.step('attack', 'token of another service, realm or type', async () => {
    const audience = await tokenOfVariant(given, 'other-service', {
      protocolMappers: [
        mapperOf('oidc-audience-mapper', { 'included.custom.audience': OTHER_SERVICE }),
        claimOf('organization_id', 'org_acme'),
        claimOf('client_id', 'other-service'),
      ],
      defaultClientScopes: [],
    })
    assertRefused(await callWith(given, audience), 'access_token_invalid', 'claim_aud')
    const untyped = await tokenOfVariant(given, 'untyped', {
      attributes: { 'access.token.header.type.rfc9068': 'false' },
    })
    assertRefused(await callWith(given, untyped), 'access_token_invalid', 'claim_typ')
    const nobody = await tokenOfVariant(given, 'no-organization', { protocolMappers: [] })
    assertRefused(await callWith(given, nobody), 'access_token_invalid', 'claim_organization_id')
    const foreign = await tokenOf(given, acme.clientId, FOREIGN_REALM)
    assertRefused(await callWith(given, foreign), 'access_token_invalid', 'unknown_key')
    return 'wrong aud, typ, claims and issuer are refused'
  })
  await report.step('attack', 'unsigned and changed tokens', async () => {
    const token = await acme.connection.token()
    const [header = '', claims = '', signature = ''] = token.split('.')
    const parts = readToken(token)
    const none = `${encodePart({ ...parts.header, alg: 'none' })}.${claims}.`
    const promoted = encodePart({ ...parts.claims, organization_id: 'org_bolt' })
    // Algorithm confusion: the published keys used as the secret of an HMAC.
    const published = await fetch(`${keycloak.url}/realms/${REALM}/protocol/openid-connect/certs`)
    const hmacHeader = encodePart({ ...parts.header, alg: 'HS256' })
    const mac = createHmac('sha256', await published.text())
      .update(`${hmacHeader}.${claims}`)
      .digest('base64url')
    assertRefused(await callWith(given, none), 'access_token_invalid')
    assertRefused(
      await callWith(given, `${hmacHeader}.${claims}.${mac}`),
      'access_token_invalid',
      'algorithm',
    )
    const changed = `${header}.${promoted}.${signature}`
    assertRefused(await callWith(given, changed), 'access_token_invalid', 'signature')
    return 'alg none, HS256 with a public key, another organization'
  })
}

const isTokenRefused = (error: unknown) => error instanceof ExchangeError && error.code === 'token_refused'

function mapperOf(protocolMapper: string, config: object) {
  return {
    name: protocolMapper,
    protocol: 'openid-connect',
    protocolMapper,
    config: { ...config, 'access.token.claim': 'true' },
  }
}

function claimOf(name: string, value: string) {
  const config = { 'claim.name': name, 'claim.value': value, 'jsonType.label': 'String' }
  return { ...mapperOf('oidc-hardcoded-claim-mapper', config), name }
}

/** Registers a variant of the example client with the key of acme, and requests its token. */
async function tokenOfVariant(
  given: KeycloakWorld,
  clientId: string,
  changes: Partial<RealmClient>,
): Promise<string> {
  const { acme, admin, world } = given
  const key = (await acme.options.keys.list()).find(({ role }) => role === 'client')
  const realm: Realm = withClientKey(exampleRealm(world.url), acme.clientId, key?.publicJwk ?? {})
  const model = realm.clients.find((client) => client.clientId === acme.clientId)
  if (!model) throw new Error('the example realm lacks the client')
  const attributes = { ...model.attributes, ...changes.attributes }
  await admin('POST', `/${REALM}/clients`, { ...model, ...changes, clientId, attributes })
  return tokenOf(given, clientId, REALM)
}

/** A token for the key of acme from any client and realm of this Keycloak, without discovery. */
async function tokenOf({ acme, keycloak }: KeycloakWorld, clientId: string, realm: string): Promise<string> {
  const issuer = `${keycloak.url}/realms/${realm}`
  const tokenEndpoint = `${issuer}/protocol/openid-connect/token`
  const { connection } = createContext({
    ...acme.options,
    clientId,
    // The discovery of the exchange names its own issuer; this one leads to another realm.
    fetch: (url, init) => {
      const path = new URL(url).pathname
      if (path.startsWith('/.well-known/oauth-protected-resource'))
        return Promise.resolve(
          Response.json({ resource: acme.options.baseUrl, authorization_servers: [issuer] }),
        )
      return fetch(path.endsWith('/token') ? tokenEndpoint : url, init)
    },
  })
  return connection.token()
}
