import {
  type ClientIdentity,
  requestTokenByEitherClock,
  type TokenEndpoint,
  tokenUrlOf,
} from '../wire/access-token.ts'
import { type Answer, toAnswer, type Transport, type WireRequest } from '../wire/wire.ts'

export interface CallOptions {
  /** Added last; undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly idempotencyKey?: string
  readonly correlationId?: string
}

/** One of the three organizations, as its client calls the service. */
export interface Organization {
  readonly organizationId: string
  readonly client: ClientIdentity
  /** With `isRefused`, a new one instead of the current one. */
  readonly token: TokenSource
  /** Over connections with the certificate of the client, if it has one. */
  readonly send: Transport
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
}

export type TokenSource = (isRefused?: boolean) => Promise<string>

interface TokenOwner {
  readonly endpoint: TokenEndpoint
  readonly organizationId: string
  readonly client: ClientIdentity
  readonly send: Transport
  readonly now: () => string
  readonly newId: (prefix: string) => string
}

export interface Caller {
  readonly baseUrl: string
  readonly organizationId: string
  readonly client: ClientIdentity
  readonly token: TokenSource
  readonly send: Transport
  readonly newId: (prefix: string) => string
  /** Called with each answer of an operation; returns what the checks see of it. */
  readonly record: (answer: Answer) => Answer
}

/** A token is renewed this long before its end, or at half of a shorter life. */
const RENEWAL_MS = 30_000

/** One token for all checks, until it ends. */
export function tokenSource({ client, endpoint, send, now, newId, organizationId }: TokenOwner) {
  let current: { readonly token: string; readonly until: number } | undefined
  return async (isRefused = false): Promise<string> => {
    if (!isRefused && current && Date.parse(now()) < current.until) return current.token
    const answer = await requestTokenByEitherClock({ client, endpoint, now, newId }, send)
    const { access_token: text, expires_in: seconds } = answer.body
    if (answer.status !== 200 || typeof text !== 'string')
      throw new Error(
        `${organizationId} got no access token: ${tokenUrlOf(endpoint, client)} answered ${answer.status}`,
      )
    const lifetime = Number(seconds ?? 0) * 1_000
    current = { token: text, until: Date.parse(now()) + lifetime - Math.min(RENEWAL_MS, lifetime / 2) }
    return text
  }
}

export function organizationOf(caller: Caller): Organization {
  const { client, send, newId, token } = caller
  return {
    organizationId: caller.organizationId,
    client,
    token,
    send,
    async call(method, path, body, options = {}) {
      const url = URL.canParse(path) ? path : caller.baseUrl + path
      // A token is for the service only: an address that it names may belong to somebody else.
      const isOwn = new URL(url).origin === new URL(caller.baseUrl).origin
      const authorization = isOwn ? `Bearer ${await token()}` : undefined
      const headers = {
        authorization,
        'x-correlation-id': options.correlationId ?? newId('corr'),
        ...(method !== 'GET' && {
          'content-type': 'application/json',
          'idempotency-key': options.idempotencyKey ?? newId('idem'),
        }),
        ...options.headers,
      }
      const given = Object.entries(headers).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      )
      const request: WireRequest = {
        method,
        url,
        headers: Object.fromEntries(given),
        hasOwnToken: authorization !== undefined && headers.authorization === authorization,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }
      const answer = toAnswer(request, await send(request))
      if (answer.status !== 401 || !request.hasOwnToken) return caller.record(answer)
      // The token may have ended. With a new one, a refusal is about the request.
      const renewed = { ...request.headers, authorization: `Bearer ${await token(true)}` }
      const repeated = { ...request, headers: renewed }
      return caller.record(toAnswer(repeated, await send(repeated)))
    },
  }
}
