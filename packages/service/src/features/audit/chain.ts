import { createHash } from 'node:crypto'
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
  readonly event: string | null
  readonly proof: string
  readonly previous_hash: string | null
  readonly hash: string
  readonly recorded_at: string
}

/**
 * Links drafts to the ends of their threads' chains. The hash of an entry is SHA-256 over RFC 8785 of the entry
 * as evidence shows it, without the hash itself; the previous entry's hash is part of that.
 */
function linkEntries(ends: ReadonlyMap<string, ChainEnd>, drafts: readonly AuditDraft[]) {
  const latest = new Map(ends)
  const rows = drafts.map((draft): AuditRow => {
    const end = latest.get(draft.threadId) ?? { count: 0, hash: null }
    const position = end.count + 1
    const hash = entryHash({ position, event: draft.event, proof: proofOf(draft, end.hash) })
    latest.set(draft.threadId, { count: position, hash })
    return {
      thread_id: draft.threadId,
      position,
      package_id: draft.packageId,
      sender_org_id: draft.senderOrgId,
      recipient_org_id: draft.recipientOrgId,
      audit_event_id: draft.event?.id ?? null,
      event: draft.event ? JSON.stringify(draft.event) : null,
      proof: JSON.stringify(draft.proof),
      previous_hash: end.hash,
      hash,
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
  return createHash('sha256')
    .update(canonicalize(event ? { ...rest, event } : rest))
    .digest('hex')
}

/** Appends to the chains of threads that the caller has locked, and moves their ends. */
export async function appendAudit(
  tx: Transaction,
  ends: ReadonlyMap<string, ChainEnd>,
  drafts: readonly AuditDraft[],
): Promise<void> {
  if (drafts.length === 0) return
  const { rows, ends: moved } = linkEntries(ends, drafts)
  await tx`
    insert into audit_entry (thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id,
      event, proof, previous_hash, hash, recorded_at)
    select thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id,
      event, proof, previous_hash, hash, recorded_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      thread_id text, position bigint, package_id text, sender_org_id text, recipient_org_id text,
      audit_event_id text, event text, proof text, previous_hash text, hash text, recorded_at timestamptz)`
  const threads = [...new Set(drafts.map(({ threadId }) => threadId))]
  await tx`
    update thread set audit_count = moved.count, audit_hash = moved.hash
    from json_to_recordset(${JSON.stringify(threads.map((id) => ({ id, ...moved.get(id) })))}::text::json)
      as moved (id text, count bigint, hash text)
    where thread_id = moved.id`
}
