import { hash } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { AuditEvent } from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Transaction } from '../../db/database.ts'

/** What is about to be written into the audit of a thread. */
export interface AuditDraft {
  readonly threadId: string
  readonly packageId: string
  readonly senderOrgId: string
  readonly recipientOrgId: string
  readonly event?: AuditEvent
  readonly proof: { readonly kind: string; readonly [member: string]: unknown }
  readonly recordedAt: string
}

/** Where the chain of a thread ends. */
export interface ChainEnd {
  readonly count: number
  readonly hash: string | null
}

interface AuditRow {
  readonly thread_id: string
  readonly position: number
  readonly package_id: string
  readonly sender_org_id: string
  readonly recipient_org_id: string
  readonly audit_event_id: string | null
  readonly event: string | null
  /** As it was hashed: with the time and the hash before it. */
  readonly proof: string
  readonly previous_hash: string | null
  readonly hash: string
  readonly recorded_at: string
}

/**
 * Links drafts to the ends of their threads' chains. The hash of an entry is SHA-256 over RFC 8785 of the entry
 * as evidence shows it, without the hash itself; the previous entry's hash is part of that. What was hashed is stored.
 */
export function linkEntries(ends: ReadonlyMap<string, ChainEnd>, drafts: readonly AuditDraft[]) {
  const latest = new Map(ends)
  const rows = drafts.map((draft): AuditRow => {
    const end = latest.get(draft.threadId) ?? { count: 0, hash: null }
    const position = end.count + 1
    const event = draft.event ? canonicalize(draft.event) : null
    const proof = canonicalize({ ...draft.proof, recorded_at: draft.recordedAt, previous_hash: end.hash })
    const own = hash('sha256', entryText(position, event, proof), 'hex')
    latest.set(draft.threadId, { count: position, hash: own })
    return {
      thread_id: draft.threadId,
      position,
      package_id: draft.packageId,
      sender_org_id: draft.senderOrgId,
      recipient_org_id: draft.recipientOrgId,
      audit_event_id: draft.event?.id ?? null,
      event,
      proof,
      previous_hash: end.hash,
      hash: own,
      recorded_at: draft.recordedAt,
    }
  })
  return { rows, ends: latest }
}

/** RFC 8785 of an entry whose parts are in that form already: its names are in order. */
function entryText(position: number, event: string | null, proof: string): string {
  const start = event === null ? '{' : `{"event":${event},`
  return `${start}"position":${position},"proof":${proof}}`
}

/** Writes entries that were linked to the ends of chains which the caller has locked; the ends move with them. */
export async function insertEntries(tx: Transaction, rows: readonly AuditRow[]): Promise<void> {
  const column = columnsOf(rows)
  await tx`
    insert into audit_entry (thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id,
      event, proof, previous_hash, hash, recorded_at)
    select thread_id, position::bigint, package_id, sender_org_id, recipient_org_id, nullif(audit_event_id, ''),
      nullif(event, ''), proof, nullif(previous_hash, ''), hash, recorded_at::timestamptz
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('thread_id')}, mark), string_to_array(${column('position')}, mark),
      string_to_array(${column('package_id')}, mark), string_to_array(${column('sender_org_id')}, mark),
      string_to_array(${column('recipient_org_id')}, mark), string_to_array(${column('audit_event_id')}, mark),
      string_to_array(${column('event')}, mark), string_to_array(${column('proof')}, mark),
      string_to_array(${column('previous_hash')}, mark), string_to_array(${column('hash')}, mark),
      string_to_array(${column('recorded_at')}, mark)) as row (
      thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id, event, proof,
      previous_hash, hash, recorded_at)`.execute()
}
