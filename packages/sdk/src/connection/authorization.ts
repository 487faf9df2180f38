import { TOKEN_REFUSALS, tokenRefusalOf } from '@agent-exchange/protocol'
import * as oauth from 'oauth4webapi'
import { ExchangeError } from '../errors.ts'
import { requireSafe, type BaseAddress } from './exchange-addresses.ts'
import { refusal } from './answers.ts'
import { ASSUMED_TOKEN_SECONDS, DISCOVERY_MS, OAUTH_ANSWER_BYTES } from './connection-limits.ts'
import type { IssuedToken } from './token-source.ts'
import { request, type Fetch } from './http-transport.ts'

export interface AuthorizationOptions {
  readonly base: BaseAddress
  readonly clientId: string
  /** Uses the time of the servers: the age of an assertion is checked by the clock of the authorization server. */
  readonly authenticate: (serverNow: () => Date) => oauth.ClientAuth
  /** Whether the client presents a certificate: some servers have separate endpoints for it (RFC 8705 section 5). */
  readonly isMutualTls: boolean
  readonly fetch: Fetch
  readonly timeoutMs: number
  readonly now: () => Date
}

interface Discovered {
  readonly server: oauth.AuthorizationServer
  readonly resource: string
  readonly at: number
}

/** Requests access tokens with the client credentials grant; discovery begins with RFC 9728. */
export function createAuthorization(options: AuthorizationOptions): () => Promise<IssuedToken> {
  const { clientId, isMutualTls, now } = options
  const client = { client_id: clientId, use_mtls_endpoint_aliases: isMutualTls }
  const { http, serverNow } = createHttp(options)
  const authenticate = options.authenticate(serverNow)
  let known: Discovered | undefined

  async function grant({ server, resource }: Discovered): Promise<IssuedToken> {
    try {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authenticate,
        new URLSearchParams({ resource }),
        http,
      )
      const answer = await oauth.processClientCredentialsResponse(server, client, response)
      return { token: answer.access_token, seconds: answer.expires_in ?? ASSUMED_TOKEN_SECONDS }
    } catch (error) {
      throw explained(error, 'token_refused')
    }
  }

  return async () => {
    const cached = known && Math.abs(now().getTime() - known.at) < DISCOVERY_MS ? known : undefined
    known = undefined
    try {
      const discovered = cached ?? (await discover(options, http))
      const issued = await grant(discovered)
      known = discovered
      return issued
    } catch (error) {
      // The cached discovery may be outdated: address, issuer, or clock difference.
      if (!cached || (error instanceof ExchangeError && error.retryable)) throw error
      known = await discover(options, http)
      return grant(known)
    }
  }
}

type Http = ReturnType<typeof createHttp>['http']

async function discover({ base, now }: AuthorizationOptions, http: Http): Promise<Discovered> {
  try {
    const url = new URL(base.href)
    const { resource, authorization_servers: [issuer] = [] } = await oauth.processResourceDiscoveryResponse(
      url,
      await oauth.resourceDiscoveryRequest(url, http),
    )
    const issuerUrl = new URL(issuer ?? '')
    return { server: await metadataOf(issuerUrl, http), resource, at: now().getTime() }
  } catch (error) {
    throw explained(error, 'discovery_failed')
  }
}

/** RFC 8414, or OpenID Connect discovery where an identity provider has nothing else. */
async function metadataOf(issuer: URL, http: Http): Promise<oauth.AuthorizationServer> {
  const response = await oauth.discoveryRequest(issuer, { ...http, algorithm: 'oauth2' })
  if (response.status !== 404) return oauth.processDiscoveryResponse(issuer, response)
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http))
}

/** All requests of the library use our transport: safe addresses, bounded responses, no redirects. */
function createHttp({ base, fetch, timeoutMs, now }: AuthorizationOptions) {
  let ahead = 0
  const bounded = async (
    url: string,
    { method, headers, body }: oauth.CustomFetchOptions<string, URLSearchParams | undefined>,
  ) => {
    requireSafe(new URL(url), base)
    const init = { method, headers, ...(body && { body: body.toString() }) }
    const answer = await request(fetch, url, init, { timeoutMs, maximumBytes: OAUTH_ANSWER_BYTES })
    const date = Date.parse(answer.headers.get('date') ?? '')
    // Some identity providers send no date; the exchange, which is asked first, always does.
    if (!Number.isNaN(date)) ahead = date - now().getTime()
    const error = answer.status === 429 || answer.status >= 500 ? refusal(answer, now()) : undefined
    if (error?.retryable) throw error
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  }
  return {
    // Whether plain HTTP is allowed is decided above, address by address.
    http: { [oauth.customFetch]: bounded, [oauth.allowInsecureRequests]: true },
    serverNow: () => new Date(now().getTime() + ahead),
  }
}

/** Copies names and codes only: the library's causes contain whole responses, including tokens. */
function explained(error: unknown, code: 'discovery_failed' | 'token_refused'): ExchangeError {
  if (error instanceof ExchangeError) return error
  if (error instanceof oauth.ResponseBodyError) {
    const refusalCode = tokenRefusalOf(error.error_description)
    if (refusalCode)
      return new ExchangeError('caller_suspended', {
        what: sentenceOf(TOKEN_REFUSALS[refusalCode]),
        details: { reason: refusalCode, status: error.status },
      })
    const reason = /^[a-z_]{1,64}$/.test(error.error) ? error.error : 'unknown'
    return new ExchangeError(code, { details: { reason, status: error.status } })
  }
  const reason: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return new ExchangeError(code, { details: typeof reason === 'string' ? { reason } : {} })
}

function sentenceOf(description: string): string {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`
}
