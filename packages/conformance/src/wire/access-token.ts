import { canonicalBytes, encodeBase64url, importPrivateJwk, signEs256 } from '@agent-exchange/crypto'
import { type Answer, isObject, toAnswer, type Transport } from './wire.ts'

/** How a client authenticates: by a private key, or by the certificate of its connections. */
export interface ClientIdentity {
  readonly clientId: string
  readonly privateJwk?: object
  /** Its connections have a client certificate (RFC 8705). */
  readonly hasCertificate?: boolean
}

export interface TokenEndpoint {
  readonly issuer: string
  readonly url: string
  /** For connections with a client certificate, if they have an address of their own (RFC 8705 section 5). */
  readonly certificateUrl?: string
  /** The identifier of the protected resource (RFC 8707). */
  readonly resource: string
}

interface TokenRequest {
  readonly client: ClientIdentity
  readonly endpoint: TokenEndpoint
  readonly now: string
  readonly jti: string
}

const ASSERTION_SECONDS = 60
const encoder = new TextEncoder()

/** RFC 9728, then RFC 8414: never a fixed path, because the address is an open point (O-08). */
export async function discoverTokenEndpoint(baseUrl: string, send: Transport): Promise<TokenEndpoint> {
  const read = async (url: string) => {
    const request = { method: 'GET', url, headers: { accept: 'application/json' } }
    const answer = toAnswer(request, await send(request))
    if (answer.status !== 200)
      throw new Error(`${url} answered ${answer.status}: the token endpoint is unknown`)
    return answer.body
  }
  const resource = await read(wellKnown(baseUrl, 'oauth-protected-resource'))
  const [issuer] = Array.isArray(resource['authorization_servers']) ? resource['authorization_servers'] : []
  if (typeof issuer !== 'string') throw new Error('the protected resource names no authorization server')
  const server = await read(wellKnown(issuer, 'oauth-authorization-server'))
  if (typeof server['token_endpoint'] !== 'string') throw new Error(`${issuer} names no token endpoint`)
  const identifier = resource['resource']
  const aliases = server['mtls_endpoint_aliases']
  const alias = isObject(aliases) ? aliases['token_endpoint'] : undefined
  return {
    issuer,
    url: server['token_endpoint'],
    ...(typeof alias === 'string' && { certificateUrl: alias }),
    resource: typeof identifier === 'string' ? identifier : baseUrl,
  }
}

/** RFC 8414 section 3: the well-known part stands before the path of the identifier. */
function wellKnown(identifier: string, name: string): string {
  const url = new URL(identifier)
  const path = url.pathname === '/' ? '' : url.pathname
  return `${url.origin}/.well-known/${name}${path}`
}

/** A client credentials grant (RFC 6749 section 4.4). */
export async function requestToken(request: TokenRequest, send: Transport): Promise<Answer> {
  const { client, endpoint } = request
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.clientId,
    resource: endpoint.resource,
  })
  if (client.privateJwk) {
    form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    form.set('client_assertion', await signAssertion(request, client.privateJwk))
  }
  const wire = {
    method: 'POST',
    url: tokenUrlOf(endpoint, client),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form.toString(),
  }
  return toAnswer(wire, await send(wire))
}

export const tokenUrlOf = ({ url, certificateUrl }: TokenEndpoint, { hasCertificate }: ClientIdentity) =>
  hasCertificate ? (certificateUrl ?? url) : url

interface TokenClient extends Pick<TokenRequest, 'client' | 'endpoint'> {
  readonly now: () => string
  readonly newId: (prefix: string) => string
}

/** The authorization server may be another one than the service, whose clock no hook moves. */
export async function requestTokenByEitherClock(
  { client, endpoint, now, newId }: TokenClient,
  send: Transport,
): Promise<Answer> {
  const request = (time: string) => requestToken({ client, endpoint, now: time, jti: newId('jti') }, send)
  const first = await request(now())
  return first.status === 200 ? first : request(new Date().toISOString())
}

/** RFC 7523 section 3. */
async function signAssertion({ client, endpoint, now, jti }: TokenRequest, jwk: object): Promise<string> {
  const seconds = Math.floor(Date.parse(now) / 1_000)
  const claims = {
    iss: client.clientId,
    sub: client.clientId,
    aud: endpoint.issuer,
    jti,
    exp: seconds + ASSERTION_SECONDS,
  }
  const kid: unknown = isObject(jwk) ? jwk['kid'] : undefined
  const header = { alg: 'ES256', ...(typeof kid === 'string' && { kid }) }
  const input = [header, claims].map((part) => encodeBase64url(canonicalBytes(part))).join('.')
  const key = await importPrivateJwk(jwk, { use: 'signing' })
  return `${input}.${encodeBase64url(await signEs256(key, encoder.encode(input)))}`
}
