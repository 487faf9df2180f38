import { request, type Dispatcher } from 'undici'
import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'
import type { WaitScope } from '../wait-scope.ts'
import { networkFailure, readAtMost } from './body.ts'
import { problemText } from './problem-text.ts'

export type HeaderSource = () => Promise<Readonly<Record<string, string>>>

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly date: string | undefined
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Statuses beyond 2xx that the caller understands. */
  readonly expect?: readonly number[]
  /** Safe to repeat: queries, and creations that answer 409. */
  readonly repeatable?: boolean
}

/** HTTP client of the management API: authorized, bounded, without redirects, with retries up to the deadline. */
export class ManagementClient {
  readonly #base: string
  readonly #headers: HeaderSource
  readonly #dispatcher: Dispatcher

  constructor(base: URL, headers: HeaderSource, dispatcher: Dispatcher) {
    this.#base = base.href.replace(/\/+$/u, '')
    this.#headers = headers
    this.#dispatcher = dispatcher
  }

  async call(call: Call, scope: WaitScope): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(call, scope)
      } catch (error) {
        if (!mayRepeat(error, call) || attempt + 1 >= LIMITS.attempts) throw error
        if (!(await scope.backOff(attempt))) throw error
      }
    }
  }

  async #once({ method, path, body, expect = [] }: Call, scope: WaitScope): Promise<Answer> {
    scope.throwIfAborted()
    if (scope.left() === 0)
      throw new ConnectorError('timeout', { what: `No time is left for ${method} ${path}.` })
    const limit = AbortSignal.timeout(Math.ceil(Math.min(LIMITS.requestMs, scope.left())))
    const signal = AbortSignal.any([scope.signal, limit])
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    try {
      const answer = await request(`${this.#base}${path}`, {
        method,
        headers: { accept: 'application/json', ...json, ...(await this.#headers()) },
        body: body === undefined ? null : JSON.stringify(body),
        dispatcher: this.#dispatcher,
        signal,
      })
      const bytes = await readAtMost(answer.body, LIMITS.answerBytes)
      const { statusCode: status, headers } = answer
      const understood = (status >= 200 && status < 300) || expect.includes(status)
      if (!understood) throw refusal(status, bytes, `${method} ${path}`)
      const date = typeof headers['date'] === 'string' ? headers['date'] : undefined
      return { status, body: parse(bytes, status, `${method} ${path}`), date }
    } catch (error) {
      throw networkFailure(error, `${method} ${path}`, {
        aborted: scope.signal.aborted,
        timedOut: limit.aborted,
      })
    }
  }
}

function mayRepeat(error: unknown, { method, repeatable = method === 'GET' }: Call): boolean {
  if (!(error instanceof ConnectorError) || error.code !== 'unreachable') return false
  // A 502 with a detail comes from our connector, which already retried the other one. A proxy's 502 has none.
  if (error.httpStatus === 502 && error.errorDetail !== undefined) return false
  // A 503 is refused before any effect. After any other failure the outcome is unknown.
  return repeatable || error.httpStatus === 503
}

function refusal(status: number, bytes: Uint8Array, where: string): ConnectorError {
  const errorDetail = problemText(bytes)
  const circumstances = {
    httpStatus: status,
    what: `The connector answered ${status} to ${where}.`,
    ...(errorDetail !== undefined && { errorDetail }),
  }
  if (status === 401 || status === 403) return new ConnectorError('unauthorized', circumstances)
  if (status === 409) return new ConnectorError('conflict', circumstances)
  if ([408, 425, 429, 500, 502, 503, 504].includes(status))
    return new ConnectorError('unreachable', { ...circumstances, outcomeUnknown: status !== 503 })
  return new ConnectorError('bad_answer', circumstances)
}

function parse(bytes: Uint8Array, status: number, where: string): unknown {
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // HTML pages of proxies and servlet containers: only the status is useful.
    if (status >= 300) return undefined
    throw new ConnectorError('bad_answer', {
      httpStatus: status,
      what: `The answer to ${where} is not JSON.`,
    })
  }
}
