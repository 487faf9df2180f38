import type { Answer, Connection } from './wire.ts'

/** What a check did, without secrets, as a report shows it. */
export type Observation = Observed | ObservedLine

/** A line to the program under test, and its answer. */
export interface ObservedLine {
  readonly line: string
  /** Why the line cannot be repeated. */
  readonly unrepeatable?: string
  readonly answer: string
}

/** A request and its answer. */
export interface Observed {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Why a command cannot repeat the request. */
  readonly unrepeatable?: string
  readonly connection?: Connection
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly answer: string
}

/** Of an answer. */
const MAXIMUM_SHOWN = 8_192
/** Of a request, which a command repeats as a whole or not at all. */
const MAXIMUM_REPEATED = 65_536
const HIDDEN = '[removed]'
/** In the place of a token that the check altered. */
export const ALTERED = '[altered]'
/** A token of this length was written into a check, so it is no secret. */
const MAXIMUM_LITERAL = 30
const MINIMUM_SECRET = 8
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie'])
/** Headers of an answer that help a reader. */
const SHOWN_HEADERS = new Set([
  'content-type',
  'retry-after',
  'www-authenticate',
  'location',
  'cache-control',
])
/** Credentials, and private members of JWKs (RFC 7518). */
const CREDENTIALS =
  'access_token|refresh_token|id_token|client_assertion|assertion|client_secret|password|api_key'
const MEMBERS = `${CREDENTIALS}|d|p|q|dp|dq|qi|k`
const SECRET_MEMBER = new RegExp(String.raw`"(${MEMBERS})"(\s*:\s*)"(?:\\.|[^"\\])*"`, 'gsu')
/** The same in JSON that is text within JSON, so that its quotes are escaped, once or more often. */
const ESCAPED_MEMBER = new RegExp(String.raw`(\\+)"(${MEMBERS})\1"(\s*:\s*)\1".*?(?<!\\)\1"`, 'gsu')
/** Also the credentials of presigned addresses of object stores. */
const SIGNED_QUERY = String.raw`(?:x-(?:amz|goog)-)?(?:signature|credential|security-token)|sig`
const SECRET_FIELD = new RegExp(String.raw`\b(${CREDENTIALS}|${SIGNED_QUERY})=[^&\s"'\\]*`, 'giu')
const TOKEN = /\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/gu
const BEARER = /\b(Bearer) [\w.~+/=-]{20,}/gu

export function observe({ request, status, headers, text, connection }: Answer): Observed {
  // An opaque token has no form of its own: it is known from its header only.
  const [, token = ''] = /^\w+ (.*)$/su.exec(request.headers['authorization'] ?? '') ?? []
  const clean = (given: string) =>
    withoutSecrets(token.length >= MINIMUM_SECRET ? given.replaceAll(token, HIDDEN) : given)
  const shown = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.has(name))
  const { body } = request
  const why = body === undefined ? undefined : whyUnrepeatable(body, clean(body))
  return {
    method: request.method,
    url: withoutSecrets(request.url),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, shownHeader(name, value, request)]),
    ),
    ...(body !== undefined && { body: cut(clean(body), MAXIMUM_REPEATED) }),
    ...(why !== undefined && { unrepeatable: why }),
    ...(connection && { connection }),
    status,
    answerHeaders: Object.fromEntries(shown.map(([name, value]) => [name, clean(value)])),
    answer: cut(clean(text), MAXIMUM_SHOWN),
  }
}

export function observeLine(question: object, answer: unknown): ObservedLine {
  const line = JSON.stringify(question)
  const why = whyUnrepeatable(line, withoutSecrets(line))
  const said = JSON.stringify(answer) ?? 'nothing'
  return {
    line: cut(withoutSecrets(line), MAXIMUM_REPEATED),
    ...(why !== undefined && { unrepeatable: why }),
    answer: cut(withoutSecrets(said), MAXIMUM_SHOWN),
  }
}

function shownHeader(name: string, value: string, { hasOwnToken }: Answer['request']): string {
  if (!SECRET_HEADERS.has(name)) return withoutSecrets(value)
  if (!hasOwnToken && name === 'authorization' && value.length <= MAXIMUM_LITERAL) return value
  return value.replace(/^(\w+ )?.*$/su, `$1${hasOwnToken ? HIDDEN : ALTERED}`)
}

function whyUnrepeatable(body: string, shown: string): string | undefined {
  if (body !== shown) return 'a secret was removed from the body'
  return body.length > MAXIMUM_REPEATED ? 'the body is too long to be shown' : undefined
}

function withoutSecrets(text: string): string {
  return text
    .replaceAll(SECRET_MEMBER, `"$1"$2"${HIDDEN}"`)
    .replaceAll(ESCAPED_MEMBER, `$1"$2$1"$3$1"${HIDDEN}$1"`)
    .replaceAll(SECRET_FIELD, `$1=${HIDDEN}`)
    .replaceAll(TOKEN, HIDDEN)
    .replaceAll(BEARER, `$1 ${HIDDEN}`)
}

function cut(text: string, maximum: number): string {
  return text.length <= maximum
    ? text
    : `${text.slice(0, maximum)}… (${text.length - maximum} more characters)`
}
