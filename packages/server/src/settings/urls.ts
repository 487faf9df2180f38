import { hostOf, isLoopback } from './listener-addresses.ts'
import { SettingError } from './settings-reader.ts'

function parse(text: string, example: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new SettingError(`Use an absolute URL such as ${example}.`)
  return url
}

/** {base_url}: an origin without a path, because the protocol defines its paths from the root. */
export function parsePublicUrl(text: string, usesTls: boolean): string {
  const url = parse(text, 'https://exchange.example')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new SettingError('Use https:// or http://.')
  if (usesTls && url.protocol === 'http:') {
    throw new SettingError('Use https://, because TLS is enabled.')
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new SettingError('Use scheme, host and port only, such as https://exchange.example.')
  }
  return url.origin
}

/** Of the console. An operator's token never crosses a network unencrypted, also not in front of a proxy. */
export const parseConsoleUrl = (text: string, usesTls: boolean) =>
  encrypted(parsePublicUrl(text, usesTls), 'the token of an operator')

/** Of a gateway's API and desk: the same for API keys and sessions of people. */
export const parseGatewayUrl = (text: string, usesTls: boolean) =>
  encrypted(parsePublicUrl(text, usesTls), 'API keys and sessions of people')

function encrypted(origin: string, what: string): string {
  const url = new URL(origin)
  if (url.protocol === 'http:' && !isLoopback(hostOf(url))) {
    throw new SettingError(`Use https://: ${what} must not cross a network unencrypted.`)
  }
  return origin
}

/** RFC 8414 section 2: https, no query, no fragment. Plain http is accepted for loopback, for development. */
export function parseIssuer(text: string): string {
  const url = parse(text, 'https://login.example')
  const isLocal = url.protocol === 'http:' && isLoopback(hostOf(url))
  if (url.protocol !== 'https:' && !isLocal) throw new SettingError('Use an https:// URL.')
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new SettingError('Leave out user information, query and fragment (RFC 8414 section 2).')
  }
  // Issuers are compared as strings, so the text is not normalized.
  return text
}

/** A receiver of OpenTelemetry data. Credentials belong in OTEL_EXPORTER_OTLP_HEADERS, which is never shown. */
export function parseCollectorUrl(text: string): string {
  const url = parse(text, 'http://localhost:4318')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new SettingError('Use https:// or http://.')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new SettingError('Leave out user information, query and fragment.')
  return text
}

/** Several hosts, each with its port, as libpq takes them. A URL has one. */
const HOST_LIST = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?,]*)(,[^/?]*)/u

/** The service writes, so an address that asks for a standby cannot work. */
const STANDBYS = new Set(['read-only', 'standby'])

export function parseDatabaseUrl(text: string): string {
  const url = URL.parse(text.replace(HOST_LIST, '$1$2'))
  const isPostgres = url !== null && ['postgres:', 'postgresql:'].includes(url.protocol)
  if (!isPostgres || url.hostname === '' || url.pathname.length < 2) {
    throw new SettingError('Use postgres://user:password@host:5432/database.')
  }
  if (STANDBYS.has(url.searchParams.get('target_session_attrs') ?? '')) {
    throw new SettingError('Use target_session_attrs=read-write: the service needs the primary.')
  }
  return text
}

/** Whether one of the addresses of the database names several hosts, as a cluster with failover has them. */
export function namesSeveralHosts({
  databaseUrl = '',
  databaseDirectUrl = '',
}: {
  readonly databaseUrl?: string | undefined
  readonly databaseDirectUrl?: string | undefined
}): boolean {
  return HOST_LIST.test(databaseUrl) || HOST_LIST.test(databaseDirectUrl)
}

export function parseSmtpUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new SettingError('Use smtps://user:password@host:465 or smtp://host:25.')
  }
  return text
}

/** A mail address, or a display name followed by one in angle brackets. */
export function parseMailbox(text: string): string {
  if (!/^(?:[^<>\r\n]+ )?<[^<>\s@]+@[^<>\s@]+>$|^[^<>\s@]+@[^<>\s@]+$/u.test(text)) {
    throw new SettingError('Use a mail address such as alerts@exchange.example.')
  }
  return text
}

/** The URL with its password hidden, for display. */
export function hidePassword(text: string): string {
  const url = URL.parse(text.replace(HOST_LIST, '$1$2'))
  if (url === null) return '(hidden)'
  if (url.password !== '') url.password = 'hidden'
  // Drivers also accept the password as a query parameter.
  for (const name of url.searchParams.keys()) {
    if (/pass|secret|key/iu.test(name)) url.searchParams.set(name, 'hidden')
  }
  const [, , , otherHosts = ''] = HOST_LIST.exec(text) ?? []
  return url.href.replace(url.host, () => `${url.host}${otherHosts}`)
}
