import { certificateFault } from './certificate-fault.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'

/** Sends HTTP requests: the platform's `fetch`, or one that presents a client certificate. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer>
}

export interface RequestLimits {
  readonly timeoutMs: number
  readonly maximumBytes: number
  /** Error code of a success that exceeds the limit. */
  readonly overflow?: ExchangeErrorCode
  readonly signal?: AbortSignal | undefined
}

/** Limit of a problem document, even if the caller's limit is lower. */
const PROBLEM_BYTES = 65_536

/** Sends one request with limits on time and size. Follows no redirect. */
export async function request(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  limits: RequestLimits,
): Promise<Answer> {
  const { timeoutMs, signal } = limits
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      ...init,
      // A redirect would send the token or the assertion to an unchecked address.
      redirect: 'manual',
      // In a browser: no cookies, no cached responses.
      credentials: 'omit',
      cache: 'no-store',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      throw new ExchangeError('exchange_answer_unreadable', { what: 'The response is a redirect.' })
    }
    return { status: response.status, headers: response.headers, body: await readBody(response, limits) }
  } catch (error) {
    if (error instanceof ExchangeError) throw error
    if (signal?.aborted) throw new ExchangeError('aborted', { cause: signal.reason })
    if (timeout.aborted) throw new ExchangeError('timed_out', { retryable: true, details: { timeoutMs } })
    const reason = reasonOf(error)
    const distrust = certificateFault(reason)
    throw new ExchangeError(distrust === undefined ? 'exchange_unreachable' : 'exchange_untrusted', {
      ...(distrust !== undefined && { what: distrust }),
      retryable: true,
      details: { reason },
      cause: error,
    })
  }
}

async function readBody(response: Response, limits: RequestLimits): Promise<Uint8Array<ArrayBuffer>> {
  const overflow = response.ok ? limits.overflow : undefined
  const maximumBytes = response.ok ? limits.maximumBytes : Math.max(limits.maximumBytes, PROBLEM_BYTES)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = response.body?.getReader()
  for (;;) {
    const part = await reader?.read()
    if (part?.value === undefined) break
    length += part.value.length
    if (length > maximumBytes) {
      await reader?.cancel()
      throw new ExchangeError(overflow ?? 'exchange_answer_unreadable', {
        what: `The response is larger than ${maximumBytes} bytes.`,
        details: { maximumBytes },
      })
    }
    chunks.push(part.value)
  }
  const body = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.length
  }
  return body
}

/** The system's error code, such as ECONNREFUSED. Contains no content. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
  return typeof code === 'string' ? code : 'network'
}
