import type { PrivateJwk } from '@agent-exchange/crypto'
import { importJWK } from 'jose'
import * as oauth from 'oauth4webapi'
import { Agent, fetch } from 'undici'
import type { Identity } from './certificates.ts'

/** How a client authenticates. */
export type ClientCredential =
  | { readonly method: 'private_key_jwt'; readonly key: PrivateJwk; readonly kid?: string }
  | { readonly method: 'tls_client_auth' | 'self_signed_tls_client_auth' }

export interface TestOAuthClient {
  /** {base_url}; all other URLs are discovered from it. */
  readonly baseUrl: string
  readonly clientId: string
  readonly credential: ClientCredential
  /** From `dispatcherFor`, if the server uses TLS. */
  readonly dispatcher?: Agent
  /** Sent as `resource`. Defaults to {base_url}; omitted if null. */
  readonly resource?: string | null
}

/** Connections that trust one authority and present an optional certificate. Close it when done. */
export function dispatcherFor({ ca, identity }: { ca?: string; identity?: Identity }): Agent {
  return new Agent({
    connect: {
      ...(ca !== undefined && { ca }),
      ...(identity && { cert: identity.certificate, key: identity.key }),
    },
  })
}

/** Discovers the authorization server (RFC 9728, RFC 8414) with an independent library. */
export async function discover({ baseUrl, dispatcher }: Pick<TestOAuthClient, 'baseUrl' | 'dispatcher'>) {
  const resource = new URL(baseUrl)
  const options = requestOptions(dispatcher)
  const resourceServer = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, options),
  )
  const issuer = new URL(resourceServer.authorization_servers?.[0] ?? 'none:')
  const response = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' })
  return { resourceServer, server: await oauth.processDiscoveryResponse(issuer, response) }
}

/** A client credentials grant, from discovery to the token. */
export async function requestToken(client: TestOAuthClient): Promise<oauth.TokenEndpointResponse> {
  const { server } = await discover(client)
  const registered = { client_id: client.clientId }
  const resource = client.resource === undefined ? client.baseUrl : client.resource
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    registered,
    await authenticationBy(client.credential),
    new URLSearchParams(resource === null ? {} : { resource }),
    requestOptions(client.dispatcher),
  )
  return oauth.processClientCredentialsResponse(server, registered, response)
}

async function authenticationBy(credential: ClientCredential): Promise<oauth.ClientAuth> {
  if (credential.method !== 'private_key_jwt') return oauth.TlsClientAuth()
  const key = await importJWK({ ...credential.key }, 'ES256')
  if (key instanceof Uint8Array) throw new Error('the client key is not an EC key')
  return oauth.PrivateKeyJwt(credential.kid === undefined ? key : { key, kid: credential.kid })
}

function requestOptions(dispatcher: Agent | undefined) {
  return {
    [oauth.allowInsecureRequests]: true,
    ...(dispatcher && { [oauth.customFetch]: fetchThrough(dispatcher) }),
  }
}

/** `fetch` over these connections, without following redirects. */
export function fetchThrough(dispatcher: Agent) {
  return async (url: string, init: { method?: string; headers?: Record<string, string>; body?: unknown }) => {
    const body = init.body instanceof URLSearchParams ? { body: init.body.toString() } : {}
    const response = await fetch(url, {
      method: init.method ?? 'GET',
      headers: init.headers ?? {},
      redirect: 'manual',
      dispatcher,
      ...body,
    })
    return response as unknown as Response
  }
}
