export interface TokenLimits {
  readonly depth: number
  /** Entries of one list. */
  readonly items: number
  /** Members of one object. */
  readonly members: number
  /** Values in all. */
  readonly values: number
  /** Escape sequences in all strings: each costs the parser more than a plain character. */
  readonly escapes: number
}

/** The first limit that is exceeded. */
export interface Excess {
  readonly kind: 'depth' | 'size'
  /** Position in the text, in UTF-16 code units. */
  readonly offset: number
  /** Of the list or object that has too many entries; empty if the text has too many values or escapes. */
  readonly path: readonly (string | number)[]
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/** Bytes of a string that are scanned one by one before a native search, which pays for long strings. */
const SCANNED_BYTES = 64
/** More of them follow an escape sequence, because there may be another one nearby. */
const SCANNED_AFTER_ESCAPE = 4_096

/** An open list or object. */
interface Open {
  readonly isList: boolean
  entries: number
  /** Where the name of the latest member begins and ends. */
  nameStart: number
  nameEnd: number
}

/** Counts the tokens of JSON text in one pass. It stops at the first excess and builds no value. */
export function scanTokens(json: Uint8Array, limits: TokenLimits): Excess | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const open: Open[] = []
  let inner: Open | undefined
  let values = 1
  let escapes = 0
  let previous = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (byte <= SPACE) continue
    if (byte === QUOTE) {
      findStringEnd(bytes, i)
      const { end } = found
      // A string without an end: the parser refuses the text.
      if (end < 0) return undefined
      escapes += found.escapes
      if (escapes > limits.escapes) return { kind: 'size', offset: i, path: [] }
      if (inner && !inner.isList && previous !== COLON) {
        inner.nameStart = i
        inner.nameEnd = end
      }
      i = end - 1
    } else if (byte === COMMA && inner) {
      inner.entries += 1
      values += 1
      if (inner.entries > (inner.isList ? limits.items : limits.members))
        return { kind: 'size', offset: i, path: pathTo(bytes, open.slice(0, -1)) }
      if (values > limits.values) return { kind: 'size', offset: i, path: [] }
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (open.length >= limits.depth)
        return { kind: 'depth', offset: bytes.toString('utf8', 0, i).length, path: [] }
      inner = { isList: byte === OPEN_ARRAY, entries: 1, nameStart: 0, nameEnd: 0 }
      open.push(inner)
      values += 1
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      // It was counted as if it had one entry.
      if (previous === OPEN_ARRAY || previous === OPEN_OBJECT) values -= 1
      open.pop()
      inner = open.at(-1)
    }
    previous = byte
  }
  return values > limits.values ? { kind: 'size', offset: bytes.length, path: [] } : undefined
}

/** The end of a string, and the escape sequences in it. Reused, so that a string costs no allocation. */
const found = { end: 0, escapes: 0 }

/** Finds the position after the closing quote of the string that opens at `start`; -1 if there is none. */
function findStringEnd(bytes: Buffer, start: number): void {
  found.escapes = 0
  let at = start + 1
  // The nearest quote: a search for each escape sequence would read a long string again and again.
  let quote = -1
  for (let scanned = SCANNED_BYTES; ; scanned = SCANNED_AFTER_ESCAPE) {
    for (const near = Math.min(bytes.length, at + scanned); at < near; at++) {
      if (bytes[at] === QUOTE) {
        found.end = at + 1
        return
      }
      if (bytes[at] === BACKSLASH) {
        found.escapes += 1
        at += 1
      }
    }
    if (quote < at) quote = bytes.indexOf(QUOTE, at)
    const escape = bytes.subarray(at, quote < 0 ? at : quote).indexOf(BACKSLASH)
    if (quote < 0 || escape < 0) {
      found.end = quote < 0 ? -1 : quote + 1
      return
    }
    at += escape
  }
}

function pathTo(bytes: Buffer, open: readonly Open[]): (string | number)[] {
  return open.map(({ isList, entries, nameStart, nameEnd }) =>
    isList ? entries - 1 : nameIn(bytes.toString('utf8', nameStart, nameEnd)),
  )
}

/** The text is not known to be JSON yet. A name that cannot be read is no name of a schema. */
function nameIn(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return ''
  }
}
