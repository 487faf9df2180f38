import { canonicalize } from '@agent-exchange/crypto'
import type { AuditEvent } from '@agent-exchange/protocol'

/** The content of an entry that is not linked into a chain yet. */
export interface EntryDraft {
  readonly event?: AuditEvent
  readonly proof: { readonly kind: string; readonly [member: string]: unknown }
}

/**
 * The canonical text (RFC 8785) of an entry in parts. The previous hash and the recording time are inserted between the
 * parts when the entry is linked.
 */
export interface EntryText {
  readonly kind: string
  /** Empty if the entry has no audit event. */
  readonly event: string
  readonly before: string
  readonly between: string
  readonly after: string
  /** Set for entries of the first release, which were hashed with this time. */
  readonly recordedAt?: string
}

/** Position, previous hash and time of an entry in its chain. */
export interface Link {
  readonly position: number
  readonly previous: string | null
  readonly recordedAt: string
}

const PREVIOUS_HASH = 'previous_hash'
const RECORDED_AT = 'recorded_at'
const BEFORE_PREVIOUS_HASH = `,"${PREVIOUS_HASH}":`

export function toEntryText({ event, proof }: EntryDraft): EntryText {
  const before: Record<string, unknown> = {}
  const between: Record<string, unknown> = {}
  const after: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(proof)) {
    const part = name < PREVIOUS_HASH ? before : name < RECORDED_AT ? between : after
    part[name] = value
  }
  return {
    kind: proof.kind,
    event: event ? canonicalize(event) : '',
    // Never empty, because it contains `kind`.
    before: `{${members(before)}${BEFORE_PREVIOUS_HASH}`,
    between: `${withLeadingComma(between)},"${RECORDED_AT}":`,
    after: `${withLeadingComma(after)}}`,
  }
}

function members(part: object): string {
  return canonicalize(part).slice(1, -1)
}

function withLeadingComma(part: object): string {
  const text = members(part)
  return text === '' ? '' : `,${text}`
}

/** The hashed text of an entry in the chain of its package (version 2): RFC 8785 of its event and proof. */
export function bodyText({ event, before, between, after }: EntryText, recordedAt: string): string {
  const start = event === '' ? '{' : `{"event":${event},`
  const first = before.slice(0, -BEFORE_PREVIOUS_HASH.length)
  return `${start}"proof":${first}${between}${quoted(recordedAt)}${after}}`
}

/** The hashed text of an entry in the chain of its thread (version 1): as shown in evidence, without its own hash. */
export function linkedText(
  { event, before, between, after }: EntryText,
  { position, previous, recordedAt }: Link,
): string {
  const start = event === '' ? '{' : `{"event":${event},`
  return `${start}"position":${position},"proof":${before}${quoted(previous)}${between}${quoted(recordedAt)}${after}}`
}

/** A hash or a time as JSON. Neither needs escaping. */
export function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`
}

const LINES_PER_ENTRY = 3
/** Canonical JSON (RFC 8785) contains no raw tabs or line breaks, so both can serve as separators. */
const TIME_PLACEHOLDER = '\t'
const EMBEDDED_TIME = /^(.*?,"recorded_at":)"([^"]+)"(.*)$/u

/** Serializes entries for storage until they are linked. */
export function toLines(entries: readonly EntryText[]): string {
  return entries
    .flatMap(({ event, before, between, after }) => [event, before, `${between}${TIME_PLACEHOLDER}${after}`])
    .join('\n')
}

export function fromLines(text: string): EntryText[] {
  const lines = text.split('\n')
  return Array.from({ length: lines.length / LINES_PER_ENTRY }, (_, index) => {
    const [event = '', before = '', rest = ''] = lines.slice(
      index * LINES_PER_ENTRY,
      (index + 1) * LINES_PER_ENTRY,
    )
    const [between = '', after] = rest.split(TIME_PLACEHOLDER)
    const kind = kindIn(before)
    return after === undefined
      ? { kind, event, before, ...parseFirstRelease(rest) }
      : { kind, event, before, between, after }
  })
}

/** The members before it are times and a digest, so the first match is the kind. */
function kindIn(before: string): string {
  const kind = /"kind":"([a-z_]+)"/u.exec(before)?.[1]
  if (kind === undefined) throw new Error('a stored audit entry has no kind')
  return kind
}

function parseFirstRelease(rest: string): Pick<EntryText, 'between' | 'after' | 'recordedAt'> {
  const [, between, recordedAt, after] = EMBEDDED_TIME.exec(rest) ?? []
  if (between === undefined || recordedAt === undefined || after === undefined)
    throw new Error('a stored audit entry cannot be parsed')
  return { between, after, recordedAt }
}
