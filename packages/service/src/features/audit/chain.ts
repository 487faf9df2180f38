import { hash as digest } from 'node:crypto'
import { recordLeaf } from '@agent-exchange/log'
import { column, copyTarget } from '../../db/copy.ts'
import type { Transaction } from '../../db/database.ts'
import { queueLogBatch, toLogBatch } from '../../kernel/log-batch.ts'
import { linkedText, quoted, type EntryText, type Link } from './entry-text.ts'

/** A new entry for the audit chain of a thread. */
export interface AuditDraft {
  readonly threadId: string
  readonly packageId: string
  /** These two label the record in the transparency log. */
  readonly contentDigest: string
  readonly receiptSignature: string
  readonly senderOrgId: string
  readonly recipientOrgId: string
  readonly text: EntryText
  /** The time of the request. The chain records the time of its previous entry if that is later. */
  readonly now: string
  /** Set for entries of a policy receipt, whose row stores their text. */
  readonly policyReceiptId?: string
}

/** The end of a thread's audit chain. */
export interface ChainEnd {
  readonly count: number
  readonly hash: string | null
  /** Time of the last entry; empty for an empty chain. */
  readonly recordedAt: string
}

/** The end of a chain without entries. */
export const EMPTY_CHAIN: ChainEnd = { count: 0, hash: null, recordedAt: '' }

/** A row of consecutive entries about one package with the same parties; most packages have four. */
interface AuditRecord {
  readonly thread_id: string
  readonly first_position: number
  last_position: number
  readonly package_id: string
  readonly sender_org_id: string
  readonly recipient_org_id: string
  readonly policy_receipt_id: string | null
  readonly entries: string[]
  readonly logged: LoggedRecord
}

/** What the leaf of a record covers beyond the columns of its row. */
interface LoggedRecord {
  readonly contentDigest: string
  readonly receiptSignature: string
  readonly previousHash: string | null
  readonly entryHashes: string[]
}

/**
 * Links drafts to the ends of their chains. The hash of an entry is SHA-256 over RFC 8785 of the entry as shown in
 * evidence, including the previous hash but not its own. O-43: the recorded time never precedes that of the previous
 * entry, although processes have different clocks and get the thread's lock in any order.
 */
export function linkEntries(ends: ReadonlyMap<string, ChainEnd>, drafts: readonly AuditDraft[]) {
  const latest = new Map(ends)
  const records: AuditRecord[] = []
  for (const draft of drafts) {
    const end = latest.get(draft.threadId) ?? EMPTY_CHAIN
    // Both are UTC with milliseconds, so they compare as strings.
    const recordedAt = end.recordedAt > draft.now ? end.recordedAt : draft.now
    const link = { position: end.count + 1, previous: end.hash, recordedAt }
    const text = linkedText(draft.text, link)
    const own = digest('sha256', text, 'hex')
    latest.set(draft.threadId, { count: link.position, hash: own, recordedAt })
    const entry = draft.policyReceiptId === undefined ? fullEntry(text, own) : linkOnlyEntry(link, own)
    const last = records.at(-1)
    if (last && continues(last, draft)) {
      last.last_position = link.position
      last.entries.push(entry)
      last.logged.entryHashes.push(own)
    } else {
      records.push(startRecord(draft, link, entry, own))
    }
  }
  return { records, ends: latest }
}

/** The format that `StoredEntry` reads. */
function fullEntry(text: string, hash: string): string {
  return `{"entry":${text},"hash":"${hash}"}`
}

function linkOnlyEntry({ position, previous, recordedAt }: Link, hash: string): string {
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

function startRecord(
  draft: AuditDraft,
  { position, previous }: Link,
  entry: string,
  own: string,
): AuditRecord {
  const { contentDigest, receiptSignature } = draft
  return {
    thread_id: draft.threadId,
    first_position: position,
    last_position: position,
    package_id: draft.packageId,
    sender_org_id: draft.senderOrgId,
    recipient_org_id: draft.recipientOrgId,
    policy_receipt_id: draft.policyReceiptId ?? null,
    entries: [entry],
    logged: { contentDigest, receiptSignature, previousHash: previous, entryHashes: [own] },
  }
}

type StoredRecord = Omit<AuditRecord, 'entries' | 'logged'> & {
  readonly entries: string
  readonly log_batch_id: Uint8Array
  readonly log_offset: number
}

const RECORDS = copyTarget<StoredRecord>('audit_record', {
  thread_id: column.text,
  first_position: column.bigint,
  last_position: column.bigint,
  package_id: column.text,
  sender_org_id: column.text,
  recipient_org_id: column.text,
  policy_receipt_id: column.text,
  entries: column.text,
  log_batch_id: column.bytea,
  log_offset: column.integer,
})

/**
 * Inserts linked entries, and queues a leaf of each record for the transparency log. The caller has locked the chains and
 * must save their new ends.
 */
export async function insertAuditRecords(tx: Transaction, records: readonly AuditRecord[]): Promise<void> {
  const batch = toLogBatch(records, leafOf)
  const rows = records.map((record, offset) => ({
    ...record,
    entries: `[${record.entries.join(',')}]`,
    log_batch_id: batch.batchId,
    log_offset: offset,
  }))
  await Promise.all([tx.copy(RECORDS, rows), queueLogBatch(tx, batch)])
}

function leafOf(record: AuditRecord, salt: Uint8Array): Uint8Array {
  return recordLeaf(
    {
      packageId: record.package_id,
      threadId: record.thread_id,
      firstPosition: record.first_position,
      lastPosition: record.last_position,
      ...record.logged,
    },
    salt,
  )
}
