import { decodeBase64 } from '@agent-exchange/crypto'
import { toHex, utf8 } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { isKeyName } from './verifier-key.ts'

/** C2SP signed-note asks for at least 16 signatures, of which a post-quantum one takes about 3 KB. */
export const MAXIMUM_SIGNATURES = 64
export const MAXIMUM_NOTE_BYTES = 131_072

const ID_LENGTH = 4
const DASH = '—'

/** A signature line, not verified yet. */
export interface NoteSignature {
  readonly name: string
  /** Four bytes in hexadecimal. */
  readonly id: string
  /** Without the key id. */
  readonly bytes: Uint8Array
}

/** A note whose form was checked and whose signatures were not. */
export interface Note {
  /** With its last newline: the bytes that are signed. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export function parseNote(content: string | Uint8Array): Note {
  const whole = typeof content === 'string' ? content : decoded(content)
  if (whole.length > MAXIMUM_NOTE_BYTES || utf8(whole).length > MAXIMUM_NOTE_BYTES)
    throw new LogError('note_size')
  requireText(whole)
  // The text may hold blank lines itself, so the last one separates.
  const end = whole.lastIndexOf('\n\n')
  if (end < 0 || end + 2 === whole.length || !whole.endsWith('\n')) throw new LogError('note_malformed')
  const lines = whole.slice(end + 2, -1).split('\n')
  if (lines.length > MAXIMUM_SIGNATURES) throw new LogError('note_signature_count')
  return { text: whole.slice(0, end + 1), signatures: lines.map(parseSignatureLine) }
}

export function parseSignatureLine(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...more] = line.split(' ')
  const bytes = decodeBase64(encoded)
  const isWhole = dash === DASH && isKeyName(name) && more.length === 0
  if (!isWhole || bytes === undefined || bytes.length <= ID_LENGTH)
    throw new LogError('note_signature_malformed')
  return { name, id: toHex(bytes.subarray(0, ID_LENGTH)), bytes: bytes.slice(ID_LENGTH) }
}

/** Appends signature lines, such as those of witnesses, to a signed note. */
export function withSignatures(note: string, lines: readonly string[]): string {
  const whole = `${note}${lines.map((line) => `${line}\n`).join('')}`
  parseNote(whole)
  return whole
}

/** What may be signed: text that ends in a newline, without control characters. */
export function requireNoteText(text: string): void {
  if (!text.endsWith('\n')) throw new LogError('note_malformed')
  requireText(text)
}

function requireText(text: string): void {
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (!text.isWellFormed() || /[\u0000-\u0009\u000b-\u001f]/u.test(text)) throw new LogError('note_encoding')
}

function decoded(bytes: Uint8Array): string {
  if (bytes.length > MAXIMUM_NOTE_BYTES) throw new LogError('note_size')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new LogError('note_encoding', { cause })
  }
}
