import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { ADMIN } from './keycloak-server.ts'

const CALL_MS = 30_000
const EXAMPLE_AUDIENCE = 'https://exchange.example'

export type Json = Record<string, unknown>

export interface RealmClient {
  readonly clientId: string
  readonly attributes: Record<string, string>
  readonly defaultClientScopes: readonly string[]
  readonly protocolMappers: readonly { readonly name: string; readonly config: Json }[]
}

/** The parts of a realm that the trial changes. */
export interface Realm extends Json {
  realm: string
  clients: RealmClient[]
}

/** The realm of deploy/keycloak, for the exchange at `publicUrl`. */
export function exampleRealm(publicUrl: string): Realm {
  const text = readFileSync(join(ROOT, 'deploy/keycloak/realm.json'), 'utf8')
  return JSON.parse(text.replaceAll(EXAMPLE_AUDIENCE, publicUrl)) as Realm
}

/** Adds a public key as docs/identity-providers.md describes it. */
export function withClientKey(realm: Realm, clientId: string, jwk: object): Realm {
  const keys = [{ ...jwk, kid: clientId, use: 'sig', alg: 'ES256' }]
  const clients = realm.clients.map((client) =>
    client.clientId === clientId
      ? { ...client, attributes: { ...client.attributes, 'jwks.string': JSON.stringify({ keys }) } }
      : client,
  )
  return { ...realm, clients }
}

/** Calls the admin API of Keycloak. */
export function adminOf(url: string) {
  async function token(): Promise<string> {
    const form = { grant_type: 'password', client_id: 'admin-cli', ...ADMIN }
    const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(CALL_MS),
    })
    const { access_token } = (await response.json()) as { access_token?: string }
    if (access_token === undefined) throw new Error(`the administrator got no token: ${response.status}`)
    return access_token
  }
  // An administrator's token lives for one minute, so each call requests its own.
  return async <Answer = undefined>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_MS),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }
}

export type Admin = ReturnType<typeof adminOf>

interface KeyProvider {
  readonly id: string
  readonly name: string
  readonly config: Record<string, string[]>
}

/** Makes a new signing key active; the former one stays published. */
export async function addSigningKey(admin: Admin, realm: string): Promise<void> {
  await admin('POST', `/${realm}/components`, {
    name: 'ecdsa-next',
    providerId: 'ecdsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    config: { priority: ['200'], ecdsaEllipticCurveKey: ['P-256'] },
  })
}

/** Removes the first signing key from the published keys. */
export async function removeFirstSigningKey(admin: Admin, realm: string): Promise<void> {
  const providers = await admin<KeyProvider[]>(
    'GET',
    `/${realm}/components?type=org.keycloak.keys.KeyProvider`,
  )
  const first = providers.find(({ name }) => name === 'ecdsa')
  if (!first) throw new Error('the realm has no key provider named ecdsa')
  await admin('DELETE', `/${realm}/components/${first.id}`)
}
