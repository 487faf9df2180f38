import type { Call } from '../../kernel/call.ts'
import type { AuditDraft } from '../audit/chain.ts'
import { toEntryText, type EntryDraft, type EntryText } from '../audit/entry-text.ts'
import type { LifecycleEvent } from '../notifications/emit-events.ts'
import type { PackageRow } from './store.ts'

/** An audit entry of the package, caused by a request at that time. */
export function draftFor(row: PackageRow, text: EntryText, now: string): AuditDraft {
  return {
    threadId: row.thread_id,
    packageId: row.package_id,
    contentDigest: row.content_digest,
    receiptSignature: row.receipt_signature,
    senderOrgId: row.sender_org_id,
    recipientOrgId: row.recipient_org_id,
    text,
    now,
  }
}

export function toDraft(row: PackageRow, entry: EntryDraft, now: string): AuditDraft {
  return draftFor(row, toEntryText(entry), now)
}

type Request = Pick<Call<'getPackage'>, 'context' | 'correlationId' | 'now' | 'span'>

/** The lifecycle event of a package in its new state, for the parties that O-25 lists. */
export function toEvent(
  row: PackageRow,
  eventType: string,
  { context, correlationId, now, span }: Request,
): LifecycleEvent {
  const parties = { sender: row.sender_org_id, recipient: row.recipient_org_id }
  return {
    eventType,
    packageId: row.package_id,
    threadId: row.thread_id,
    state: row.state,
    transportMode: row.transport_mode,
    contentDigest: row.content_digest,
    correlationId,
    traceparent: span?.traceparent,
    occurredAt: now,
    organizations: context.profile['O-25'].parties.map((party) => parties[party]),
  }
}
