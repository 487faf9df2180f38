import { canonicalize } from '@agent-exchange/crypto'
import type { AuditEvent } from '@agent-exchange/protocol'

/** What an entry says, before it has a place in a chain. */
export interface EntryDraft {
  readonly event?: AuditEvent
  readonly proof: { readonly kind: string; readonly [member: string]: unknown }
}

/**
 * The same in RFC 8785, in which it will be hashed. The previous entry's hash and the time of recording are known only
 * when the entry is linked, and both are in the middle of its proof: here is the text around the two.
 */
export interface EntryText {
  /** Empty for a proof without an audit event. */
  readonly event: string
  readonly before: string
  readonly between: string
  readonly after: string
  /** Kept by the first release, which did not wait for the link: an entry that it linked was hashed with this time. */
  readonly recordedAt?: string
}

/** The place of an entry in its chain. */
export interface Link {
  readonly position: number
  readonly previous: string | null
  readonly recordedAt: string
}

const PREVIOUS_HASH = 'previous_hash'
const RECORDED_AT = 'recorded_at'

export function toEntryText({ event, proof }: EntryDraft): EntryText {
  const before: Record<string, unknown> = {}
  const between: Record<string, unknown> = {}
  const after: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(proof)) {
    const part = name < PREVIOUS_HASH ? before : name < RECORDED_AT ? between : after
    part[name] = value
  }
  return {
    event: event ? canonicalize(event) : '',
    // Never empty: its kind is in it.
    before: `{${members(before)},"${PREVIOUS_HASH}":`,
    between: `${followed(between)},"${RECORDED_AT}":`,
    after: `${followed(after)}}`,
  }
}

function members(part: object): string {
  return canonicalize(part).slice(1, -1)
}

function followed(part: object): string {
  const text = members(part)
  return text === '' ? '' : `,${text}`
}

/** RFC 8785 of the entry as evidence shows it, without its own hash. */
export function linkedText(
  { event, before, between, after }: EntryText,
  { position, previous, recordedAt }: Link,
): string {
  const start = event === '' ? '{' : `{"event":${event},`
  return `${start}"position":${position},"proof":${before}${quoted(previous)}${between}${quoted(recordedAt)}${after}}`
}

/** A hash or one of our times, as JSON: there is nothing in it to escape. */
export function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`
}

const LINES_OF_AN_ENTRY = 3
/** RFC 8785 writes neither line breaks nor tabs as they are. */
const TIME_GOES_HERE = '\t'
const KEPT_TIME = /^(.*?,"recorded_at":)"([^"]+)"(.*)$/u

/** For keeping until they are linked. */
export function toLines(entries: readonly EntryText[]): string {
  return entries
    .flatMap(({ event, before, between, after }) => [event, before, `${between}${TIME_GOES_HERE}${after}`])
    .join('\n')
}

export function fromLines(text: string): EntryText[] {
  const lines = text.split('\n')
  return Array.from({ length: lines.length / LINES_OF_AN_ENTRY }, (_, index) => {
    const [event = '', before = '', rest = ''] = lines.slice(
      index * LINES_OF_AN_ENTRY,
      (index + 1) * LINES_OF_AN_ENTRY,
    )
    const [between = '', after] = rest.split(TIME_GOES_HERE)
    return after === undefined ? withKeptTime(event, before, rest) : { event, before, between, after }
  })
}

function withKeptTime(event: string, before: string, rest: string): EntryText {
  const [, between, recordedAt, after] = KEPT_TIME.exec(rest) ?? []
  if (between === undefined || recordedAt === undefined || after === undefined)
    throw new Error('an audit entry that was kept cannot be read')
  return { event, before, between, after, recordedAt }
}
