import { hash as digest } from 'node:crypto'
import { column, copyTarget } from '../../db/copy.ts'
import type { Transaction } from '../../db/database.ts'
import { linkedText, quoted, type EntryText, type Link } from './entry-text.ts'

/** What is about to be written into the audit of a thread. */
export interface AuditDraft {
  readonly threadId: string
  readonly packageId: string
  readonly senderOrgId: string
  readonly recipientOrgId: string
  readonly text: EntryText
  /** The time of the request. The chain records a later one where its previous entry has one. */
  readonly now: string
  /** The policy receipt whose first, second, … entry this is: it keeps the text. */
  readonly policyReceiptId?: string
}

/** Where the chain of a thread ends. */
export interface ChainEnd {
  readonly count: number
  readonly hash: string | null
  /** Of the last entry; empty where there is none. */
  readonly recordedAt: string
}

/** The end of a chain without entries. */
export const EMPTY_CHAIN: ChainEnd = { count: 0, hash: null, recordedAt: '' }

/** Entries about one package, for the same organizations, that follow each other: most packages come with four. */
interface AuditRecord {
  readonly thread_id: string
  readonly first_position: number
  last_position: number
  readonly package_id: string
  readonly sender_org_id: string
  readonly recipient_org_id: string
  readonly policy_receipt_id: string | null
  readonly entries: string[]
}

/**
 * Links drafts to the ends of their threads' chains. The hash of an entry is SHA-256 over RFC 8785 of the entry
 * as evidence shows it, without the hash itself; the previous entry's hash is part of that. What was hashed is stored, or
 * all that was added to what a policy receipt keeps of it.
 *
 * O-43: requests wait for a thread's lock in another order than they arrived, and processes have clocks of their own. So
 * an entry is recorded at the time of its request or at that of the previous entry, whichever is later.
 */
export function linkEntries(ends: ReadonlyMap<string, ChainEnd>, drafts: readonly AuditDraft[]) {
  const latest = new Map(ends)
  const records: AuditRecord[] = []
  for (const draft of drafts) {
    const end = latest.get(draft.threadId) ?? EMPTY_CHAIN
    // Both are UTC in milliseconds: as texts they compare like the times.
    const recordedAt = end.recordedAt > draft.now ? end.recordedAt : draft.now
    const link = { position: end.count + 1, previous: end.hash, recordedAt }
    const text = linkedText(draft.text, link)
    const own = digest('sha256', text, 'hex')
    latest.set(draft.threadId, { count: link.position, hash: own, recordedAt })
    const entry = draft.policyReceiptId === undefined ? wholeEntry(text, own) : keptEntry(link, own)
    const before = records.at(-1)
    if (before && continues(before, draft)) {
      before.last_position = link.position
      before.entries.push(entry)
    } else {
      records.push(startRecord(draft, link.position, entry))
    }
  }
  return { records, ends: latest }
}

/** See `StoredEntry`, which is what comes out again. */
function wholeEntry(text: string, hash: string): string {
  return `{"entry":${text},"hash":"${hash}"}`
}

function keptEntry({ position, previous, recordedAt }: Link, hash: string): string {
  return `{"position":${position},"previous_hash":${quoted(previous)},"recorded_at":"${recordedAt}","hash":"${hash}"}`
}

function continues(record: AuditRecord, draft: AuditDraft): boolean {
  return (
    record.thread_id === draft.threadId &&
    record.package_id === draft.packageId &&
    record.sender_org_id === draft.senderOrgId &&
    record.recipient_org_id === draft.recipientOrgId
  )
}

function startRecord(draft: AuditDraft, position: number, entry: string): AuditRecord {
  return {
    thread_id: draft.threadId,
    first_position: position,
    last_position: position,
    package_id: draft.packageId,
    sender_org_id: draft.senderOrgId,
    recipient_org_id: draft.recipientOrgId,
    policy_receipt_id: draft.policyReceiptId ?? null,
    entries: [entry],
  }
}

type StoredRecord = Omit<AuditRecord, 'entries'> & { readonly entries: string }

const RECORDS = copyTarget<StoredRecord>('audit_record', {
  thread_id: column.text,
  first_position: column.bigint,
  last_position: column.bigint,
  package_id: column.text,
  sender_org_id: column.text,
  recipient_org_id: column.text,
  policy_receipt_id: column.text,
  entries: column.text,
})

/** For entries that were linked to the ends of chains which the caller has locked; the ends move with them. */
export function insertAuditRecords(tx: Transaction, records: readonly AuditRecord[]): Promise<void> {
  return tx.copy(
    RECORDS,
    records.map((record) => ({ ...record, entries: `[${record.entries.join(',')}]` })),
  )
}
