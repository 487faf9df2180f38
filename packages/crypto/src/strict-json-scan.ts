import { CryptoError } from './errors.ts'

export interface Span {
  readonly start: number
  readonly end: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Scans text that JSON.parse has accepted for what JSON.parse does not reject: duplicate names, escaped lone surrogates,
 * unsafe numbers, depth. Strings are skipped by searching their end, so base64url costs little. Returns the positions of
 * the member values of the outermost object.
 */
export function scanJson(text: string, maxDepth: number, at: string | undefined): Map<string, Span> {
  const spans = new Map<string, Span>()
  /** The names seen so far in each open object; null for an open array. */
  const open: (Set<string> | null)[] = []
  let names: Set<string> | null = null
  let nameExpected = false
  let member: string | undefined
  let memberStart = 0

  const closeMember = (end: number): void => {
    if (open.length !== 1 || member === undefined) return
    spans.set(member, trimmed(text, memberStart, end))
    member = undefined
  }

  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      const end = stringEnd(text, i)
      const raw = text.slice(i + 1, end - 1)
      const escaped = raw.includes('\\')
      if (escaped && raw.includes('\\u') && !unescaped(raw).isWellFormed()) {
        throw new CryptoError('json_lone_surrogate', { at, offset: i })
      }
      if (nameExpected && names !== null) {
        // Names are compared after unescaping (RFC 8259 section 8.3).
        const name = escaped ? unescaped(raw) : raw
        if (names.has(name)) throw new CryptoError('json_duplicate_member', { at, offset: i })
        names.add(name)
        nameExpected = false
        if (open.length === 1) {
          member = name
          memberStart = text.indexOf(':', end) + 1
        }
      }
      i = end - 1
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (open.length >= maxDepth) throw new CryptoError('json_depth', { at, offset: i })
      names = char === OPEN_OBJECT ? new Set() : null
      open.push(names)
      nameExpected = names !== null
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      closeMember(i)
      open.pop()
      names = open.at(-1) ?? null
      nameExpected = false
    } else if (char === COMMA) {
      closeMember(i)
      nameExpected = names !== null
    } else if (char === MINUS || (char >= DIGIT_0 && char <= DIGIT_9)) {
      const literal = numberAt(text, i)
      if (!survivesAsDouble(literal)) throw new CryptoError('json_number', { at, offset: i })
      i += literal.length - 1
    }
  }
  return spans
}

/** The position after the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  let end = start
  let backslashes: number
  do {
    end = text.indexOf('"', end + 1)
    backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
  } while (backslashes % 2 === 1)
  return end + 1
}

function unescaped(raw: string): string {
  return String(JSON.parse(`"${raw}"`))
}

function numberAt(text: string, start: number): string {
  NUMBER.lastIndex = start
  return NUMBER.exec(text)?.[0] ?? ''
}

/**
 * RFC 7493 section 2.2 and RFC 8785 section 3.2.2.3 make every number a double. A fraction may be rounded, as in the sample
 * of RFC 8785 (333333333.33333329). Refused are a magnitude that becomes infinite or zero, and an integer literal that
 * becomes another integer. Beyond 2^53 this allows the exact value of a double and its canonical text.
 */
function survivesAsDouble(literal: string): boolean {
  const value = Number(literal)
  if (Number.isSafeInteger(value) && value !== 0) return true
  if (!Number.isFinite(value)) return false
  if (value === 0) return !/[1-9]/.test(literal.split(/[eE]/, 1)[0] ?? '')
  return !/^-?\d+$/.test(literal) || literal === String(value) || BigInt(literal) === BigInt(value)
}

function trimmed(text: string, from: number, to: number): Span {
  let start = from
  let end = to
  while (isWhitespace(text.charCodeAt(start))) start++
  while (isWhitespace(text.charCodeAt(end - 1))) end--
  return { start, end }
}

function isWhitespace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}
