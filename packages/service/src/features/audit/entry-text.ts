import { canonicalize } from '@agent-exchange/crypto'
import type { AuditEvent } from '@agent-exchange/protocol'

/** What an entry says, before it has a place in a chain. */
export interface EntryDraft {
  readonly event?: AuditEvent
  readonly proof: { readonly kind: string; readonly [member: string]: unknown }
  readonly recordedAt: string
}

/**
 * The same in RFC 8785, in which it will be hashed. The hash of the entry before it is known only when the entry is
 * linked, and belongs into the middle of its proof: here is what stands before that, and after it.
 */
export interface EntryText {
  /** Empty where a proof stands by itself. */
  readonly event: string
  readonly before: string
  readonly after: string
}

const PREVIOUS_HASH = 'previous_hash'

export function toEntryText({ event, proof, recordedAt }: EntryDraft): EntryText {
  const before: Record<string, unknown> = {}
  const after: Record<string, unknown> = { recorded_at: recordedAt }
  // Its kind stands before, its time after: neither of the two is empty.
  for (const [name, value] of Object.entries(proof)) (name < PREVIOUS_HASH ? before : after)[name] = value
  return {
    event: event ? canonicalize(event) : '',
    before: `${canonicalize(before).slice(0, -1)},"${PREVIOUS_HASH}":`,
    after: `,${canonicalize(after).slice(1)}`,
  }
}

/** RFC 8785 of the entry as evidence shows it, without its own hash. */
export function linkedText(
  { event, before, after }: EntryText,
  position: number,
  previous: string | null,
): string {
  const start = event === '' ? '{' : `{"event":${event},`
  return `${start}"position":${position},"proof":${before}${quoted(previous)}${after}}`
}

/** A hash, as JSON: there is nothing in it to escape. */
export function quoted(hash: string | null): string {
  return hash === null ? 'null' : `"${hash}"`
}

const LINES_OF_AN_ENTRY = 3

/** For keeping until they are linked: RFC 8785 has no line break. */
export function toLines(entries: readonly EntryText[]): string {
  return entries.flatMap(({ event, before, after }) => [event, before, after]).join('\n')
}

export function fromLines(text: string): EntryText[] {
  const lines = text.split('\n')
  return Array.from({ length: lines.length / LINES_OF_AN_ENTRY }, (_, index) => {
    const [event = '', before = '', after = ''] = lines.slice(index * LINES_OF_AN_ENTRY)
    return { event, before, after }
  })
}
