import { CryptoError } from './errors.ts'
import { scanJson, type Span } from './strict-json-scan.ts'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export type JsonObject = { readonly [name: string]: JsonValue }

/** Looks at JSON that has not been parsed. `at` is the name of the input in error messages. */
export type InspectJson = (json: Uint8Array, at: string | undefined) => void

export interface StrictJsonOptions {
  /** Maximum nesting depth. */
  readonly maxDepth?: number
  /** The name of the input in error messages. */
  readonly at?: string
  /** Called with the UTF-8 text before it is parsed; may throw. Limits here save the cost of parsing. */
  readonly inspect?: InspectJson
}

const DEFAULT_MAXIMUM_DEPTH = 32

const encoder = new TextEncoder()
// ignoreBOM keeps a byte order mark in the text, so that it can be refused.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses JSON that is or will be signed. Two parsers must not interpret it differently, so everything that RFC 7493
 * (I-JSON) excludes is refused: duplicate names, lone surrogates, invalid UTF-8, and numbers that a double cannot
 * represent (see strict-json-scan.ts for the exact rule).
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
  /** The position of each member value of the outermost object in the text. */
  readonly spans: ReadonlyMap<string, Span>
}

/** Like {@link parseStrictJson}, for a caller that also needs the exact text of a member. */
export function parseWithSpans(input: string | Uint8Array, options: StrictJsonOptions = {}): ParsedJson {
  const { maxDepth = DEFAULT_MAXIMUM_DEPTH, at } = options
  options.inspect?.(typeof input === 'string' ? encoder.encode(input) : input, at)
  const text = typeof input === 'string' ? input : decodeUtf8(input, at)
  if (text.charCodeAt(0) === 0xfeff) throw new CryptoError('json_byte_order_mark', { at, offset: 0 })
  if (!text.isWellFormed()) throw new CryptoError('json_lone_surrogate', { at })
  // JSON.parse checks the grammar, so the scan can rely on well-formed text.
  const value = parseGrammar(text, at)
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
    // The message of the engine contains input, so only the position is used.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    throw new CryptoError('json_syntax', {
      at,
      offset: position === undefined ? undefined : Number(position),
    })
  }
}
