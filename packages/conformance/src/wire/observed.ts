import type { Answer } from './wire.ts'

/** A request and its answer without secrets, as a report shows them. */
export interface Observed {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly answer: string
}

const MAXIMUM_SHOWN = 8_192
const HIDDEN = '[removed]'
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'set-cookie'])
/** Headers of an answer that help a reader. */
const SHOWN_HEADERS = new Set([
  'content-type',
  'retry-after',
  'www-authenticate',
  'location',
  'cache-control',
])
/** Assertions, tokens, and private members of JWKs (RFC 7518). */
const SECRET_MEMBER = /"(access_token|client_assertion|d|p|q|dp|dq|qi|k)"(\s*:\s*)"[^"]*"/gu
const SECRET_FIELD = /(client_assertion|access_token)=[^&\s]*/gu
const TOKEN = /\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/gu

export function observe({ request, status, headers, text }: Answer): Observed {
  const shown = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.has(name))
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        SECRET_HEADERS.has(name) ? value.replace(/^(\w+ )?.*$/u, `$1${HIDDEN}`) : value,
      ]),
    ),
    ...(request.body !== undefined && { body: withoutSecrets(request.body) }),
    status,
    answerHeaders: Object.fromEntries(shown),
    answer: withoutSecrets(text),
  }
}

function withoutSecrets(text: string): string {
  const clean = text
    .replaceAll(SECRET_MEMBER, `"$1"$2"${HIDDEN}"`)
    .replaceAll(SECRET_FIELD, `$1=${HIDDEN}`)
    .replaceAll(TOKEN, HIDDEN)
  return clean.length <= MAXIMUM_SHOWN
    ? clean
    : `${clean.slice(0, MAXIMUM_SHOWN)}… (${clean.length - MAXIMUM_SHOWN} more characters)`
}
