import { encodeBase64url } from '@agent-exchange/crypto'

/**
 * A part of an envelope as submitted: text, decoded base64url, text. Nearly all of an envelope is its payload, and its
 * decoded bytes take a quarter less space.
 */
export interface ContentPart {
  readonly before: string
  readonly payload: Uint8Array
  readonly after: string
}

/** Two parts, with an id of up to 128 bytes, fit into a page of PostgreSQL. */
const PART_BYTES = 3_900
/** Bytes of one base64 group: payloads are cut only between groups. */
const GROUP_BYTES = 3

/** Every value is base64url, which has no quotation mark: only the member name matches. */
const PAYLOAD = /"payload"[\t\n\r ]*:[\t\n\r ]*"/u

/**
 * Cuts an envelope into parts. `characters` is the length of the payload member, `payload` its decoded bytes. A text with
 * escapes is kept as it is. The text is ASCII, base64url members in JSON, so that characters count as bytes.
 */
export function toParts(text: string, characters: number, payload: Uint8Array): ContentPart[] {
  const member = text.includes('\\') ? null : PAYLOAD.exec(text)
  if (!member) return cut({ before: text, payload: new Uint8Array(), after: '' })
  const at = member.index + member[0].length
  return cut({ before: text.slice(0, at), payload, after: text.slice(at + characters) })
}

function cut({ before, payload, after }: ContentPart): ContentPart[] {
  const parts: ContentPart[] = []
  let [textAt, payloadAt, afterAt] = [0, 0, 0]
  do {
    const first = before.slice(textAt, textAt + PART_BYTES)
    textAt += first.length
    const bytes = payload.subarray(payloadAt, payloadAt + wholeGroups(PART_BYTES - first.length))
    payloadAt += bytes.length
    const isThrough = payloadAt === payload.length
    const room = isThrough ? PART_BYTES - first.length - bytes.length : 0
    const last = after.slice(afterAt, afterAt + room)
    afterAt += last.length
    parts.push({ before: first, payload: bytes, after: last })
  } while (textAt < before.length || payloadAt < payload.length || afterAt < after.length)
  return parts
}

/** Stored size in bytes. */
export function partsLength(parts: readonly ContentPart[]): number {
  return parts.reduce((sum, part) => sum + part.before.length + part.payload.length + part.after.length, 0)
}

function wholeGroups(bytes: number): number {
  return bytes - (bytes % GROUP_BYTES)
}

/** Restores the exact bytes. */
export function fromParts(parts: readonly ContentPart[]): Buffer {
  const text = parts.map(({ before, payload, after }) => `${before}${encodeBase64url(payload)}${after}`)
  return Buffer.from(text.join(''))
}
