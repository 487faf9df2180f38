import { isIP } from 'node:net'
import { ConnectorError } from './connector-error.ts'

/** Whether an address is a loopback address. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '').toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1'
}

/** Requires TLS, except on loopback, and no user information, which would end up in logs. */
export function requireAddress(text: string, name: string): URL {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new ConnectorError('invalid_input', {
      what: `${name} must be an https address without user information.`,
    })
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new ConnectorError('invalid_input', {
      what: `${name} must be https: only loopback addresses may be http.`,
    })
  return url
}
