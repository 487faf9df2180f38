import { CryptoError } from './errors.ts'
import { scanJson, type Span } from './strict-json-scan.ts'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export type JsonObject = { readonly [name: string]: JsonValue }

export interface StrictJsonOptions {
  /** How deep arrays and objects may nest. */
  readonly maxDepth?: number
  /** What is being read, in the protocol's names, for the error. */
  readonly at?: string
  /** Sees the value before the text is scanned, and may throw: for limits of size, which spare the work of the scan. */
  readonly inspect?: (value: JsonValue) => void
}

const DEFAULT_MAXIMUM_DEPTH = 32

// ignoreBOM keeps a byte order mark in the text, where it can be refused instead of dropped.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses JSON that is or will be signed. Two readers must not understand one text differently, so what
 * RFC 7493 (I-JSON) leaves to the reader is refused: repeated names, lone surrogates, invalid UTF-8, and
 * numbers that a double cannot hold (see strict-json-scan.ts for the exact rule).
 *
 * @example
 * parseStrictJson('{"a":1,"\\u0061":2}') // throws CryptoError json_duplicate_member
 */
export function parseStrictJson(input: string | Uint8Array, options: StrictJsonOptions = {}): JsonValue {
  return parseWithSpans(input, options).value
}

export interface ParsedJson {
  readonly text: string
  readonly value: JsonValue
  /** Where the value of each member of the outermost object stands in the text. */
  readonly spans: ReadonlyMap<string, Span>
}

/** As {@link parseStrictJson}, for a caller that also needs a member's text as it was written. */
export function parseWithSpans(input: string | Uint8Array, options: StrictJsonOptions = {}): ParsedJson {
  const { maxDepth = DEFAULT_MAXIMUM_DEPTH, at } = options
  const text = typeof input === 'string' ? input : decodeUtf8(input, at)
  if (text.charCodeAt(0) === 0xfeff) throw new CryptoError('json_byte_order_mark', { at, offset: 0 })
  if (!text.isWellFormed()) throw new CryptoError('json_lone_surrogate', { at })
  // The engine's parser settles the grammar; the scan after it may rely on a well-formed text.
  const value = parseGrammar(text, at)
  options.inspect?.(value)
  return { text, value, spans: scanJson(text, maxDepth, at) }
}

function decodeUtf8(bytes: Uint8Array, at: string | undefined): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new CryptoError('json_encoding', { at })
  }
}

function parseGrammar(text: string, at: string | undefined): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch (error) {
    // The engine's message quotes the text, so only the position is taken from it.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    throw new CryptoError('json_syntax', {
      at,
      offset: position === undefined ? undefined : Number(position),
    })
  }
}
