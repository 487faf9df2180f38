import type { EvidenceEntry } from '@agent-exchange/protocol'
import { fragment, type Queries } from '../../db/database.ts'
import { fromLines, linkedText, type EntryText } from './entry-text.ts'

/** An entry as hashed, and its hash. */
interface FullEntry {
  readonly entry: EvidenceEntry
  readonly hash: string
}

/** An entry whose text is stored with its policy receipt: its link and hash. */
interface LinkOnlyEntry {
  readonly position: number
  readonly previous_hash: string | null
  /** Missing in entries of the first release, whose text contains the time. */
  readonly recorded_at?: string
  readonly hash: string
}

type StoredEntry = FullEntry | LinkOnlyEntry

export interface StoredRecord {
  readonly entries: string
  /** The text of the first entries, from the policy receipt. */
  readonly receipt_entries: string | null
}

/** Selects the entries that an organization may see. */
export interface EntryQuery {
  readonly threadId: string
  /** Only entries of this package. */
  readonly packageId?: string
  readonly organizationId: string
  readonly after: number
  /** Records that end after this position are not read. */
  readonly until: number
  readonly limit: number
}

/** AUD-01: entries of packages that the organization is a party to, in order of recording. */
export async function entriesAfter(queries: Queries, query: EntryQuery): Promise<EvidenceEntry[]> {
  const { threadId, packageId, organizationId, after, until, limit } = query
  // There is one index per thread and one per package.
  const filter =
    packageId === undefined ? fragment`thread_id = ${threadId}` : fragment`package_id = ${packageId}`
  // A record contains at least one entry and may have started on the previous page.
  const records = await queries.byIndex<StoredRecord[]>`
    select entries, (
      select audit_entries from policy_receipt
      where policy_receipt.policy_receipt_id = audit_record.policy_receipt_id) as receipt_entries
    from audit_record
    where ${filter} and last_position > ${after} and last_position <= ${until}
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
    order by last_position limit ${limit}`
  const found: EvidenceEntry[] = []
  for (const record of records) {
    if (found.length >= limit) break
    found.push(...entriesOf(record).filter(({ position }) => position > after))
  }
  return found.slice(0, limit)
}

/** The first position of the next record that ends after the given position. Positions have no gaps. */
export async function nextRecordAfter(
  queries: Queries,
  threadId: string,
  position: number,
): Promise<number | undefined> {
  const [next] = await queries.byIndex<{ first_position: number }[]>`
    select first_position from audit_record where thread_id = ${threadId} and last_position > ${position}
    order by last_position limit 1`
  return next?.first_position
}

/** The entries of a record as shown in evidence. */
export function entriesOf({ entries, receipt_entries }: StoredRecord): EvidenceEntry[] {
  const texts = receipt_entries === null ? [] : fromLines(receipt_entries)
  return (JSON.parse(entries) as StoredEntry[]).map((stored, index) => {
    const entry = 'entry' in stored ? stored.entry : linked(texts[index], stored)
    return { ...entry, proof: { ...entry.proof, hash: stored.hash } }
  })
}

function linked(text: EntryText | undefined, link: LinkOnlyEntry): EvidenceEntry {
  const { position, previous_hash: previous, recorded_at } = link
  const recordedAt = recorded_at ?? text?.recordedAt
  if (!text || recordedAt === undefined)
    throw new Error('the policy receipt of an audit record has fewer entries than the record')
  return JSON.parse(linkedText(text, { position, previous, recordedAt })) as EvidenceEntry
}
