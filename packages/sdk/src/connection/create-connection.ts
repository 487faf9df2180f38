import { HEADER, MEDIA_TYPE, operations, type Operation } from '@agent-exchange/protocol'
import { TlsClientAuth } from 'oauth4webapi'
import { ExchangeError } from '../errors.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { operationAddress, readBaseAddress } from './exchange-addresses.ts'
import { readSuccess, refusal } from './answers.ts'
import { createAuthorization, type AuthorizationOptions } from './authorization.ts'
import { assertionBy } from './client-assertion.ts'
import type { AnswerOf, Connection } from './connection.ts'
import { DEFAULT_LIMITS, type ConnectionLimits } from './connection-limits.ts'
import { randomId } from './random-id.ts'
import { withRetries } from './retries.ts'
import { createTokenSource } from './token-source.ts'
import { request, type Answer, type Fetch } from './http-transport.ts'

/** Client authentication: a key of the store, or the certificate that `fetch` presents. */
export type ClientAuthentication =
  | { readonly method: 'private_key_jwt'; readonly keys: KeyStore }
  | { readonly method: 'mutual_tls' }

export interface ConnectionOptions {
  /** {base_url} of the exchange: https, or http on loopback. */
  readonly baseUrl: string
  readonly clientId: string
  readonly authentication: ClientAuthentication
  /** Defaults to the platform's `fetch`. For a client certificate see `createTlsFetch` in `@agent-exchange/sdk/node`. */
  readonly fetch?: Fetch
  readonly now?: () => Date
  readonly limits?: Partial<ConnectionLimits>
}

interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * A connection to an exchange. Nothing is sent before the first call.
 *
 * @example
 * const connection = createConnection({
 *   baseUrl: 'https://exchange.example',
 *   clientId: 'client_1',
 *   authentication: { method: 'private_key_jwt', keys },
 * })
 * const agent = await connection.call('getAgent', { path: { agent_id: 'agent_planner' } })
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { clientId, authentication, now = () => new Date() } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const base = readBaseAddress(options.baseUrl)
  const authenticate: AuthorizationOptions['authenticate'] = (serverNow) =>
    authentication.method === 'mutual_tls' ? TlsClientAuth() : assertionBy(authentication.keys, serverNow)
  const isMutualTls = authentication.method === 'mutual_tls'
  const { timeoutMs } = limits
  const tokens = createTokenSource(
    createAuthorization({ base, clientId, authenticate, isMutualTls, fetch, timeoutMs, now }),
    now,
  )

  /** Sends with a token. Replaces a refused token once. */
  async function send(
    { url, method, headers, body }: Sent,
    size: Pick<Parameters<typeof request>[3], 'maximumBytes' | 'overflow'>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    for (let isFirst = true; ; isFirst = false) {
      const token = await tokens.get(signal)
      const init = {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(body !== undefined && { body }),
      }
      const answer = await request(fetch, url, init, { ...size, timeoutMs, signal })
      if (answer.status !== 401) return answer
      tokens.reject(token)
      if (!isFirst) return answer
    }
  }

  return {
    baseUrl: base.href,

    async call(id, given = {}) {
      const operation: Operation = operations[id]
      const { signal, bodyText, body, correlationId = randomId('corr') } = given
      const text = bodyText ?? (body === undefined ? undefined : JSON.stringify(body))
      // Built once: every attempt is the same request, so the operation takes effect once.
      const sent: Sent = {
        url: operationAddress(base, operation, given.path ?? {}, given.query ?? {}),
        method: operation.method,
        headers: {
          accept: MEDIA_TYPE.json,
          [HEADER.correlationId]: correlationId,
          ...(operation.mutation && {
            [HEADER.idempotencyKey]: given.idempotencyKey ?? randomId('idem'),
            'content-type': MEDIA_TYPE.json,
          }),
        },
        ...(text !== undefined && { body: text }),
      }
      return withRetries(limits, signal, async () => {
        const answer = await send(sent, { maximumBytes: limits.answerBytes }, signal)
        return readSuccess(answer, operation, now()) as AnswerOf<typeof id>
      })
    },

    async download(url, { maximumBytes, signal }) {
      if (URL.parse(url)?.origin !== base.origin) {
        const what = 'The content has an address outside the exchange. The access token is not sent there.'
        throw new ExchangeError('exchange_answer_unreadable', { what })
      }
      const sent: Sent = { url, method: 'GET', headers: { [HEADER.correlationId]: randomId('corr') } }
      return withRetries(limits, signal, async () => {
        const answer = await send(sent, { maximumBytes, overflow: 'content_too_large' }, signal)
        if (answer.status !== 200) throw gone(refusal(answer, now()))
        return answer.body
      })
    },

    token: () => withRetries(limits, undefined, () => tokens.get()),
  }
}

/** 410 for content is final. */
function gone(error: ExchangeError): ExchangeError {
  const { problem, details } = error
  if (details['status'] !== 410 || !problem) return error
  return new ExchangeError('content_unavailable', { what: `${problem.title}.`, problem, details })
}
