import { isIP } from 'node:net'
import { ConnectorError } from './connector-error.ts'

/** Whether an address is a loopback address. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '').toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1'
}

/** Whether an address is this machine: loopback, mapped IPv4 and unspecified addresses. */
export function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '').toLowerCase()
  const mapped = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):[0-9a-f]{1,4})$/u.exec(host)
  if (mapped?.[1] !== undefined) return isThisMachine(mapped[1])
  if (mapped?.[2] !== undefined)
    return ['7f', '0'].includes(
      mapped[2]
        .padStart(4, '0')
        .slice(0, 2)
        .replace(/^0(?=.)/u, ''),
    )
  return isLoopback(host) || host === '::' || (isIP(host) === 4 && host.startsWith('0.'))
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
