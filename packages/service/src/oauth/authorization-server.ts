import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import { isUnavailable } from '@agent-exchange/database'
import { isModuleAway } from '@agent-exchange/pkcs11'
import { OPENID_METADATA_PATH, pathOf, SERVER_METADATA_PATH } from '@agent-exchange/server/issuer'
import type { TokenKey } from '../platform-keys/token-keys.ts'
import { databaseUnavailable, Problem, signingUnavailable } from '../kernel/problem.ts'
import type { AuthorityFailure, ClientCertificate } from './client-certificate.ts'
import { KEYS_PATH, oauthUrls, TOKEN_PATH } from './oauth-urls.ts'
import { authorizationServerMetadata } from './metadata.ts'
import { providerConfiguration, type ProviderSettings } from './provider-configuration.ts'

export interface AuthorizationServerSettings extends ProviderSettings {
  /** Unexpected failures, for the log. */
  readonly onError: (error: unknown) => void
  /** Receives the reason of a refusal, for the operator and never for the client. Contains no secret. */
  readonly onRefusal?: (refusal: TokenRefusal) => void
}

export interface TokenRefusal {
  /** Undefined for unknown clients. */
  readonly clientId: string | undefined
  readonly error: string
  readonly reason: string | undefined
  /** Why the certificate of a tls_client_auth client was not accepted, and what the operator can do. */
  readonly certificate?: AuthorityFailure
  readonly hint?: string
}

export interface AuthorizationServer {
  /** Whether the authorization server serves this path (without its query). */
  handles(path: string): boolean
  /** Answers a request whose body has not been read. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** How long clients may cache keys and metadata. */
const DOCUMENT_SECONDS = 300

/**
 * The embedded authorization server: token endpoint and discovery documents. URLs are derived from {base_url}, never
 * from request headers, so that it works behind a proxy.
 */
export function createAuthorizationServer(settings: AuthorizationServerSettings): AuthorizationServer {
  const { publicUrl, tokenKeys } = settings
  const metadata = document(authorizationServerMetadata(publicUrl))
  const keys: Answer = async (request, response) => {
    const listed = (await tokenKeys()).keys.map(({ publicJwk, keyId }) => {
      return { ...publicJwk, kid: keyId, alg: 'ES256', use: 'sig' }
    })
    await document({ keys: listed })(request, response)
  }
  const answers = new Map<string, Answer>([
    [TOKEN_PATH, tokenEndpoint(settings)],
    [KEYS_PATH, keys],
    [SERVER_METADATA_PATH, metadata],
    [SERVER_METADATA_PATH + pathOf(publicUrl), metadata],
    [OPENID_METADATA_PATH, metadata],
  ])
  return {
    handles: (path) => answers.has(path),
    async handle(request, response) {
      const answer = answers.get(request.url?.split('?', 1)[0] ?? '')
      if (answer) await answer(request, response)
      else send(response, 404, { error: 'not_found' })
    },
  }
}

type ProviderCallback = ReturnType<Provider['callback']>

/** oidc-provider takes its keys at construction, so it is recreated when they change. */
function providerOf(settings: AuthorizationServerSettings): () => Promise<ProviderCallback> {
  let current: { version: string; answer: ProviderCallback } | undefined
  return async () => {
    const { keys, version } = await settings.tokenKeys()
    if (current?.version !== version) current = { version, answer: createProvider(settings, keys) }
    return current.answer
  }
}

function createProvider(settings: AuthorizationServerSettings, keys: readonly TokenKey[]): ProviderCallback {
  const { publicUrl, onError, onRefusal, certificateOf } = settings
  const provider = new Provider(publicUrl, providerConfiguration(settings, keys))
  provider.use((ctx, next) => {
    // The library derives URLs from the request; it must use the configured ones.
    Object.defineProperty(ctx, 'href', { value: oauthUrls(publicUrl).tokenEndpoint })
    ctx['mountPath'] = pathOf(publicUrl)
    return next()
  })
  provider.on('server_error', (ctx, error) => {
    const isDatabase = isUnavailable(error)
    if (!isDatabase && !isModuleAway(error)) return onError(error)
    const { details } = isDatabase ? databaseUnavailable(error) : signingUnavailable(error)
    ctx.status = 503
    ctx.set('Retry-After', String(details['retry_after_seconds']))
    const error_description = isDatabase ? 'the database is unavailable' : 'the exchange cannot sign now'
    ctx.body = { error: 'temporarily_unavailable', error_description }
  })
  // Koa prints errors unless there is a listener. Its types lack this event.
  const koa: EventEmitter = provider
  koa.on('error', onError)
  provider.on('grant.error', (ctx, error) => {
    const { client } = ctx.oidc
    onRefusal?.({
      clientId: client?.clientId,
      error: error.error,
      reason: error.error_detail ?? error.error_description,
      ...(client?.clientAuthMethod === 'tls_client_auth' && explainCertificate(certificateOf(ctx.req))),
    })
  })
  return provider.callback()
}

/** The client is refused with the same answer in every case; only the operator's log has the cause. */
function explainCertificate(
  certificate: ClientCertificate | undefined,
): Pick<TokenRefusal, 'certificate' | 'hint'> {
  const failure = certificate?.authorityFailure()
  return failure === undefined ? {} : { certificate: failure, hint: HINTS[failure] }
}

const HINTS: Readonly<Record<AuthorityFailure, string>> = {
  no_client_ca:
    'set AEX_TLS_CLIENT_CA: the service verifies certificates that a proxy forwards, and it has no CA to do so',
  unknown_issuer:
    'no CA in AEX_TLS_CLIENT_CA issued it; if an intermediate CA did, add it there or let the proxy send Client-Cert-Chain',
  expired: 'the certificate or a CA of its path is not valid now',
  unsuitable:
    'the certificate or a CA of its path is not permitted for this use, or has an extension that is not supported, such as name constraints',
  chain_invalid: 'Client-Cert-Chain of the proxy is not a list of at most four certificates',
  refused_in_handshake: 'no CA in AEX_TLS_CLIENT_CA issued it, or it is not valid now',
}

function tokenEndpoint(settings: AuthorizationServerSettings): Answer {
  const { certificateOf } = settings
  const provider = providerOf(settings)
  return async (request, response) => {
    response.setHeader('Cache-Control', 'no-store')
    if (request.method !== 'POST') return refuseMethod(response, 'POST')
    try {
      certificateOf(request)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return send(response, 400, {
        error: 'invalid_request',
        error_description: `${String(error.details['header'])} is missing or invalid`,
      })
    }
    const answer = await provider()
    await answer(request, response)
  }
}

function document(content: object): Answer {
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response, 'GET, HEAD')
    response.setHeader('Cache-Control', `public, max-age=${DOCUMENT_SECONDS}`)
    send(response, 200, content)
  }
}

function refuseMethod(response: ServerResponse, allow: string): void {
  response.setHeader('Allow', allow)
  send(response, 405, { error: 'invalid_request', error_description: `use ${allow}` })
}

function send(response: ServerResponse, status: number, content: object): void {
  const body = JSON.stringify(content)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(body)
}
