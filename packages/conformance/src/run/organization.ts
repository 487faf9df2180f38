import { type ClientIdentity, requestTokenByEitherClock, type TokenEndpoint } from '../wire/access-token.ts'
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
  token(): Promise<string>
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
}

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
  readonly token: () => Promise<string>
  readonly send: Transport
  readonly newId: (prefix: string) => string
  /** Called with each answer of an operation. */
  readonly record: (answer: Answer) => void
}

/** A token is renewed this long before its end. */
const RENEWAL_MS = 30_000

/** One token for all checks, until it ends. */
export function tokenSource({ client, endpoint, send, now, newId, organizationId }: TokenOwner) {
  let current: { readonly token: string; readonly until: number } | undefined
  return async (): Promise<string> => {
    if (current && Date.parse(now()) < current.until) return current.token
    const answer = await requestTokenByEitherClock({ client, endpoint, now, newId }, send)
    const { access_token: text, expires_in: seconds } = answer.body
    if (answer.status !== 200 || typeof text !== 'string')
      throw new Error(`${organizationId} got no access token: ${endpoint.url} answered ${answer.status}`)
    current = { token: text, until: Date.parse(now()) + Number(seconds ?? 0) * 1_000 - RENEWAL_MS }
    return text
  }
}

export function organizationOf(caller: Caller): Organization {
  const { client, send, newId, token } = caller
  return {
    organizationId: caller.organizationId,
    client,
    token,
    async call(method, path, body, options = {}) {
      const headers = {
        authorization: `Bearer ${await token()}`,
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
        url: path.startsWith('http') ? path : caller.baseUrl + path,
        headers: Object.fromEntries(given),
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }
      const answer = toAnswer(request, await send(request))
      caller.record(answer)
      return answer
    },
  }
}
