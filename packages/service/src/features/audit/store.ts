import type { EvidenceEntry } from '@agent-exchange/protocol'
import { fragment, type Queries } from '../../db/database.ts'
import { fromLines, linkedText, type EntryText } from './entry-text.ts'

/** An entry as it was hashed, and its hash. */
interface WholeEntry {
  readonly entry: EvidenceEntry
  readonly hash: string
}

/** One whose text the policy receipt keeps: where it was linked, and its hash. */
interface KeptEntry {
  readonly position: number
  readonly previous_hash: string | null
  /** Not in entries that the first release linked: the time is then in the text. */
  readonly recorded_at?: string
  readonly hash: string
}

type StoredEntry = WholeEntry | KeptEntry

interface StoredRecord {
  readonly entries: string
  /** Of the policy receipt, for the first of them. */
  readonly kept: string | null
}

/** Which entries are asked for, on whose behalf. */
export interface EntryQuery {
  readonly threadId: string
  /** Only those of one package. */
  readonly packageId?: string
  readonly organizationId: string
  readonly after: number
  /** Records that end after this are not looked at. */
  readonly until: number
  readonly limit: number
}

/** AUD-01: entries of packages that the organization is a party to, in the order they were recorded. */
export async function entriesAfter(queries: Queries, query: EntryQuery): Promise<EvidenceEntry[]> {
  const { threadId, packageId, organizationId, after, until, limit } = query
  // Each way has its index: a record is found by its thread or by its package.
  const place =
    packageId === undefined ? fragment`thread_id = ${threadId}` : fragment`package_id = ${packageId}`
  // A record holds at least one entry, and may have begun on the page before.
  const records = await queries.byIndex<StoredRecord[]>`
    select entries, (
      select audit_entries from policy_receipt
      where policy_receipt.policy_receipt_id = audit_record.policy_receipt_id) as kept
    from audit_record
    where ${place} and last_position > ${after} and last_position <= ${until}
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
    order by last_position limit ${limit}`
  const found: EvidenceEntry[] = []
  for (const record of records) {
    if (found.length >= limit) break
    found.push(...entriesOf(record).filter(({ position }) => position > after))
  }
  return found.slice(0, limit)
}

/** Where the first record of a thread begins that ends after a position. Positions have no gap. */
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

function entriesOf({ entries, kept }: StoredRecord): EvidenceEntry[] {
  const texts = kept === null ? [] : fromLines(kept)
  return (JSON.parse(entries) as StoredEntry[]).map((stored, index) => {
    const entry = 'entry' in stored ? stored.entry : linked(texts[index], stored)
    return { ...entry, proof: { ...entry.proof, hash: stored.hash } }
  })
}

function linked(text: EntryText | undefined, kept: KeptEntry): EvidenceEntry {
  const { position, previous_hash: previous, recorded_at } = kept
  const recordedAt = recorded_at ?? text?.recordedAt
  if (!text || recordedAt === undefined)
    throw new Error('an audit record has more entries of its policy receipt than that has')
  return JSON.parse(linkedText(text, { position, previous, recordedAt })) as EvidenceEntry
}
