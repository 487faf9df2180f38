import { pathParameters, type Operation } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'

/** {base_url} after validation. */
export interface BaseAddress {
  /** Without a final slash. */
  readonly href: string
  readonly origin: string
  /** Whether plain HTTP is used: allowed on loopback only. */
  readonly isPlain: boolean
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

/** Parses the address of an exchange: https, or http on loopback, without credentials, query or fragment. */
export function readBaseAddress(text: string): BaseAddress {
  const url = URL.parse(text)
  if (!url) throw unusable('The base address is not a URL.')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw unusable('The base address holds more than a host and a path.')
  }
  const base = { href: url.href.replace(/\/+$/, ''), origin: url.origin, isPlain: url.protocol === 'http:' }
  requireSafe(url, base)
  return base
}

/** Tokens and assertions require TLS. Plain HTTP is allowed on loopback, and never after an https base address. */
export function requireSafe(url: URL, base: Pick<BaseAddress, 'isPlain'>): void {
  if (url.protocol === 'https:') return
  if (url.protocol === 'http:' && base.isPlain && LOOPBACK.test(url.hostname)) return
  throw unusable('An address is not https. Plain http is for an exchange on this machine only.')
}

/** The address of an operation with its parameters filled in. */
export function operationAddress(
  base: BaseAddress,
  operation: Operation,
  path: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  let filled: string = operation.path
  for (const name of pathParameters(operation.path)) {
    const value = path[name]
    // A dot segment would lead to another operation (RFC 3986 section 5.2.4).
    if (value === undefined || value === '' || value === '.' || value === '..' || !value.isWellFormed()) {
      throw unusable(`The path parameter ${name} is missing or invalid.`)
    }
    filled = filled.replace(`{${name}}`, () => encodeURIComponent(value))
  }
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, String(value))
  }
  return base.href + filled + (given.size === 0 ? '' : `?${given.toString()}`)
}

function unusable(what: string): ExchangeError {
  return new ExchangeError('input_invalid', { what })
}
