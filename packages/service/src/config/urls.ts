import { isLoopback } from './addresses.ts'
import { Refusal } from './settings-reader.ts'

function parse(text: string, example: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new Refusal(`Use an absolute address such as ${example}.`)
  return url
}

/** {base_url}: an origin. A path would have to go into every address that the protocol fixes. */
export function parsePublicUrl(text: string, usesTls: boolean): string {
  const url = parse(text, 'https://exchange.example')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Refusal('Use https:// or http://.')
  if (usesTls && url.protocol === 'http:') {
    throw new Refusal('Use https://, as AEX_TLS_CERT makes the listener speak TLS.')
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Refusal('Use scheme, host and port only, such as https://exchange.example.')
  }
  return url.origin
}

/** RFC 8414 section 2: https, no query, no fragment. Plain http is for a developer's own machine. */
export function parseIssuer(text: string): string {
  const url = parse(text, 'https://login.example')
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/gu, ''))
  if (url.protocol !== 'https:' && !isLocal) throw new Refusal('Use an https:// address.')
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Refusal('Leave out user information, query and fragment (RFC 8414 section 2).')
  }
  // An issuer is compared character by character, so it stays as it was written.
  return text
}

export function parseDatabaseUrl(text: string): string {
  const url = URL.parse(text)
  const isPostgres = url !== null && ['postgres:', 'postgresql:'].includes(url.protocol)
  if (!isPostgres || url.hostname === '' || url.pathname.length < 2) {
    throw new Refusal('Use postgres://user:password@host:5432/database.')
  }
  return text
}

export function parseSmtpUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new Refusal('Use smtps://user:password@host:465 or smtp://host:25.')
  }
  return text
}

/** The address, or a name before it in angle brackets. */
export function parseMailbox(text: string): string {
  if (!/^(?:[^<>\r\n]+ )?<[^<>\s@]+@[^<>\s@]+>$|^[^<>\s@]+@[^<>\s@]+$/u.test(text)) {
    throw new Refusal('Use a mail address such as alerts@exchange.example.')
  }
  return text
}

/** The same address with its password hidden, for people to read. */
export function hidePassword(text: string): string {
  const url = URL.parse(text)
  if (url === null) return '(hidden)'
  if (url.password !== '') url.password = 'hidden'
  // Drivers also take the password as a parameter.
  for (const name of url.searchParams.keys()) {
    if (/pass|secret|key/iu.test(name)) url.searchParams.set(name, 'hidden')
  }
  return url.href
}
