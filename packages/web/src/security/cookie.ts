/** RFC 6265 section 4.1.1: characters of a name and of a value. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/u
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/u

/** A longer Cookie header is ignored as a whole. */
const MAXIMUM_HEADER_CHARACTERS = 8_192

export interface CookieSettings {
  readonly name: string
  readonly value: string
  /** Over TLS the cookie is `Secure` and its name gets the prefix `__Host-`, which other hosts cannot set. */
  readonly tls: boolean
  readonly sameSite: 'Strict' | 'Lax'
  /** Without it, the cookie ends with the browser session. Zero removes it. */
  readonly maxAgeSeconds?: number
}

/** The name under which the browser sends the cookie back. */
export function cookieName(name: string, tls: boolean): string {
  return tls ? `__Host-${name}` : name
}

/** Value of a `Set-Cookie` header. Always `HttpOnly`, for the whole host and for no other one. */
export function cookieHeader({ name, value, tls, sameSite, maxAgeSeconds }: CookieSettings): string {
  if (!NAME.test(name) || !VALUE.test(value))
    throw new TypeError('a cookie has a name or value that is not allowed')
  if (maxAgeSeconds !== undefined && !Number.isSafeInteger(maxAgeSeconds))
    throw new TypeError('the age of a cookie is a whole number of seconds')
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  return `${cookieName(name, tls)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${tls ? '; Secure' : ''}${age}`
}

/** Value of one cookie. One that is there twice counts as absent: a sibling host may have planted the second. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined || header.length > MAXIMUM_HEADER_CHARACTERS) return undefined
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  const [value] = values
  return values.length === 1 && value !== undefined && VALUE.test(value) ? value : undefined
}
