import canonicalizeJson from 'canonicalize'
import { CryptoError } from './errors.ts'

const encoder = new TextEncoder()

/**
 * The RFC 8785 text of a JSON value. What JSON cannot carry unchanged is refused instead of being dropped
 * or converted on the way under a signature; only a member that is `undefined` counts as absent, since
 * JSON.stringify will not send it either.
 *
 * @example
 * canonicalize({ b: 1e2, a: 'ä' }) // '{"a":"ä","b":100}'
 */
export function canonicalize(value: unknown): string {
  assertJson(value, [])
  try {
    const text = canonicalizeJson(value)
    if (text !== undefined) return text
  } catch (cause) {
    throw new CryptoError('json_not_representable', { cause })
  }
  throw new CryptoError('json_not_representable')
}

/** The UTF-8 bytes of {@link canonicalize}: what is hashed and signed. */
export function canonicalBytes(value: unknown): Uint8Array {
  return encoder.encode(canonicalize(value))
}

/** Numbers and strings are the library's to judge; the kinds of value are ours. */
function assertJson(value: unknown, parents: object[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return
  if (typeof value !== 'object' || parents.includes(value)) throw new CryptoError('json_not_representable')
  parents.push(value)
  if (Array.isArray(value)) {
    for (const item of value) assertJson(item, parents)
  } else {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (
      (prototype !== Object.prototype && prototype !== null) ||
      Object.getOwnPropertySymbols(value).length > 0
    ) {
      throw new CryptoError('json_not_representable')
    }
    for (const [name, member] of Object.entries(value)) {
      if (!name.isWellFormed()) throw new CryptoError('json_not_representable')
      // A toJSON function would let the value replace itself; any function is refused here.
      if (member !== undefined) assertJson(member, parents)
    }
  }
  parents.pop()
}
