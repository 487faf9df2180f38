import { hash } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { AuditEvent } from '@agent-exchange/protocol'
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
  readonly event: AuditEvent | null
  readonly proof: object
  readonly previous_hash: string | null
  readonly hash: string
  readonly recorded_at: string
}

/**
 * Links drafts to the ends of their threads' chains. The hash of an entry is SHA-256 over RFC 8785 of the entry
 * as evidence shows it, without the hash itself; the previous entry's hash is part of that.
 */
export function linkEntries(ends: ReadonlyMap<string, ChainEnd>, drafts: readonly AuditDraft[]) {
  const latest = new Map(ends)
  const rows = drafts.map((draft): AuditRow => {
    const end = latest.get(draft.threadId) ?? { count: 0, hash: null }
    const position = end.count + 1
    const own = entryHash({ position, event: draft.event, proof: proofOf(draft, end.hash) })
    latest.set(draft.threadId, { count: position, hash: own })
    return {
      thread_id: draft.threadId,
      position,
      package_id: draft.packageId,
      sender_org_id: draft.senderOrgId,
      recipient_org_id: draft.recipientOrgId,
      audit_event_id: draft.event?.id ?? null,
      event: draft.event ?? null,
      proof: draft.proof,
      previous_hash: end.hash,
      hash: own,
      recorded_at: draft.recordedAt,
    }
  })
  return { rows, ends: latest }
}

function proofOf(draft: AuditDraft, previousHash: string | null) {
  return { ...draft.proof, recorded_at: draft.recordedAt, previous_hash: previousHash }
}

function entryHash(entry: { position: number; event: AuditEvent | undefined; proof: object }): string {
  const { event, ...rest } = entry
  return hash('sha256', canonicalize(event ? { ...rest, event } : rest), 'hex')
}

/**
 * Writes entries that were linked to the ends of chains which the caller has locked; the ends move with them. The type
 * json keeps an object as it was written, so nothing is escaped twice on its way to a column of text.
 */
export async function insertEntries(tx: Transaction, rows: readonly AuditRow[]): Promise<void> {
  await tx`
    insert into audit_entry (thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id,
      event, proof, previous_hash, hash, recorded_at)
    select thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id,
      event::text, proof::text, previous_hash, hash, recorded_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      thread_id text, position bigint, package_id text, sender_org_id text, recipient_org_id text,
      audit_event_id text, event json, proof json, previous_hash text, hash text, recorded_at timestamptz)`.execute()
}
