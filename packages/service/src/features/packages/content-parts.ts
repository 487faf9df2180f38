import { encodeBase64url } from '@agent-exchange/crypto'

/**
 * A piece of an envelope as it was handed in: text, then what stood there in base64url, then text again. Nearly all of an
 * envelope is its payload, and its bytes take a quarter less than their base64url.
 */
export interface ContentPart {
  readonly before: string
  readonly payload: Uint8Array
  readonly after: string
}

/** Two of them fit into a page of the database as they are, with an id of up to 128 bytes. */
const PART_BYTES = 3_900
/** What one group of base64 stands for: payloads are cut between groups only. */
const GROUP_BYTES = 3

/** No value of an envelope is that word: it stands in one place. */
const PAYLOAD = /"payload"[\t\n\r ]*:[\t\n\r ]*"/u

/**
 * An envelope in pieces. `payload` are the bytes of its member of that name, which has so many characters; where anything is
 * written in escapes, all of it is kept as text. There is one byte for each character: three members of base64url, and JSON
 * around them.
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

/** In bytes, as they are stored. */
export function partsLength(parts: readonly ContentPart[]): number {
  return parts.reduce((sum, part) => sum + part.before.length + part.payload.length + part.after.length, 0)
}

function wholeGroups(bytes: number): number {
  return bytes - (bytes % GROUP_BYTES)
}

/** The exact bytes again. */
export function fromParts(parts: readonly ContentPart[]): Buffer {
  const text = parts.map(({ before, payload, after }) => `${before}${encodeBase64url(payload)}${after}`)
  return Buffer.from(text.join(''))
}
