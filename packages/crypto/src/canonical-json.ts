import canonicalizeJson from 'canonicalize'
import { CryptoError } from './errors.ts'

const encoder = new TextEncoder()

/**
 * The RFC 8785 text of a JSON value. A value that JSON cannot represent is refused, because dropping or converting it
 * would change what is signed. Only a member that is `undefined` counts as absent, as in JSON.stringify.
 *
 * RFC 8785 section 3.2.2 defines strings and numbers by ECMAScript, so only the member order is left to sort; the rest
 * is JSON.stringify, which is faster than serializing each value here.
 *
 * @example
 * canonicalize({ b: 1e2, a: 'ä' }) // '{"a":"ä","b":100}'
 */
export function canonicalize(value: unknown): string {
  const walk: Walk = { parents: [], hasOddName: false }
  const ordered = inOrder(value, walk)
  const text = walk.hasOddName ? canonicalizeJson(value) : JSON.stringify(ordered)
  if (text === undefined) throw new CryptoError('json_not_representable')
  return text
}

/** The UTF-8 bytes of {@link canonicalize}: what is hashed and signed. */
export function canonicalBytes(value: unknown): Uint8Array {
  return encoder.encode(canonicalize(value))
}

interface Walk {
  /** The enclosing objects, to detect cycles. */
  readonly parents: object[]
  /** A name for which a JavaScript object does not preserve insertion order. */
  hasOddName: boolean
}

/** JavaScript lists integer-like names first, and `__proto__` sets the prototype. */
function isOddName(name: string): boolean {
  const first = name.charCodeAt(0)
  return (first >= 0x30 && first <= 0x39) || name === '__proto__'
}

/** The value with the names of its objects sorted by UTF-16 code units (RFC 8785 section 3.2.3). */
function inOrder(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string' && value.isWellFormed()) return value
  if (typeof value === 'object' && value !== null) return containerInOrder(value, walk)
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return value
  throw new CryptoError('json_not_representable')
}

function containerInOrder(value: object, walk: Walk): object {
  const { parents } = walk
  if (parents.includes(value)) throw new CryptoError('json_not_representable')
  parents.push(value)
  const ordered = Array.isArray(value) ? itemsInOrder(value, walk) : membersInOrder(value, walk)
  parents.pop()
  return ordered
}

function itemsInOrder(items: readonly unknown[], walk: Walk): unknown[] {
  const ordered: unknown[] = []
  for (const item of items) ordered.push(inOrder(item, walk))
  return ordered
}

function membersInOrder(value: object, walk: Walk): object {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  if (!isPlain || Object.getOwnPropertySymbols(value).length > 0)
    throw new CryptoError('json_not_representable')
  const members = value as Readonly<Record<string, unknown>>
  const names = Object.keys(value)
  // Most hashed objects are built in order and need no copy.
  let ordered: Record<string, unknown> | undefined = isSorted(names) ? undefined : {}
  for (const name of ordered ? names.toSorted() : names) {
    if (!name.isWellFormed()) throw new CryptoError('json_not_representable')
    const member = members[name]
    if (member === undefined) continue
    // A toJSON function could replace the value, so functions are refused.
    const inner = inOrder(member, walk)
    if (isOddName(name)) walk.hasOddName = true
    else if (ordered) ordered[name] = inner
    else if (inner !== member) ordered = { ...members, [name]: inner }
  }
  return ordered ?? value
}

/** Compares by UTF-16 code units, like sort() without a comparator. */
function isSorted(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if ((names[i - 1] ?? '') > (names[i] ?? '')) return false
  return true
}
