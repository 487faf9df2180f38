import { hash } from 'node:crypto'
import { columnsOf } from '../../db/columns.ts'
import type { Transaction, Write } from '../../db/database.ts'
import { linkedText, type EntryText } from './entry-text.ts'

/** What is about to be written into the audit of a thread. */
export interface AuditDraft {
  readonly threadId: string
  readonly packageId: string
  readonly senderOrgId: string
  readonly recipientOrgId: string
  readonly text: EntryText
}

/** Where the chain of a thread ends. */
export interface ChainEnd {
  readonly count: number
  readonly hash: string | null
}

/** Entries about one package that follow each other: most packages come with four. */
interface AuditRecord {
  readonly thread_id: string
  readonly first_position: number
  last_position: number
  readonly package_id: string
  readonly sender_org_id: string
  readonly recipient_org_id: string
  /** Each as it was hashed, and its hash. */
  readonly entries: string[]
}

/**
 * Links drafts to the ends of their threads' chains. The hash of an entry is SHA-256 over RFC 8785 of the entry
 * as evidence shows it, without the hash itself; the previous entry's hash is part of that. What was hashed is stored.
 */
export function linkEntries(ends: ReadonlyMap<string, ChainEnd>, drafts: readonly AuditDraft[]) {
  const latest = new Map(ends)
  const records: AuditRecord[] = []
  for (const draft of drafts) {
    const end = latest.get(draft.threadId) ?? { count: 0, hash: null }
    const position = end.count + 1
    const text = linkedText(draft.text, position, end.hash)
    const own = hash('sha256', text, 'hex')
    latest.set(draft.threadId, { count: position, hash: own })
    const entry = `{"entry":${text},"hash":"${own}"}`
    const before = records.at(-1)
    if (before?.thread_id === draft.threadId && before.package_id === draft.packageId) {
      before.last_position = position
      before.entries.push(entry)
    } else {
      records.push(startRecord(draft, position, entry))
    }
  }
  return { records, ends: latest }
}

function startRecord(draft: AuditDraft, position: number, entry: string): AuditRecord {
  return {
    thread_id: draft.threadId,
    first_position: position,
    last_position: position,
    package_id: draft.packageId,
    sender_org_id: draft.senderOrgId,
    recipient_org_id: draft.recipientOrgId,
    entries: [entry],
  }
}

/** For entries that were linked to the ends of chains which the caller has locked; the ends move with them. */
export function auditRecordsWrite(tx: Transaction, records: readonly AuditRecord[]): Write {
  const column = columnsOf(records.map((record) => ({ ...record, entries: `[${record.entries.join(',')}]` })))
  return tx`
    insert into audit_record (thread_id, first_position, last_position, package_id, sender_org_id, recipient_org_id,
      entries)
    select thread_id, first_position::bigint, last_position::bigint, package_id, sender_org_id, recipient_org_id, entries
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('thread_id')}, mark), string_to_array(${column('first_position')}, mark),
      string_to_array(${column('last_position')}, mark), string_to_array(${column('package_id')}, mark),
      string_to_array(${column('sender_org_id')}, mark), string_to_array(${column('recipient_org_id')}, mark),
      string_to_array(${column('entries')}, mark)) as row (
      thread_id, first_position, last_position, package_id, sender_org_id, recipient_org_id, entries)`
}
