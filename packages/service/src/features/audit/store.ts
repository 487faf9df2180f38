import type { EvidenceEntry, HiddenEvidenceEntry } from '@agent-exchange/protocol'
import { fragment, type Queries } from '@agent-exchange/database'
import { MAXIMUM_PAGE_CHARACTERS } from '../../kernel/page.ts'
import { entriesOf, hiddenEntriesOf, type StoredRecord } from './stored-entries.ts'

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

/** The columns from which the entries of a record are made. */
export const RECORD_COLUMNS = fragment`audit_record.package_id, audit_record.first_position,
  audit_record.chain_position, audit_record.entries, (
    select audit_entries from policy_receipt
    where policy_receipt.policy_receipt_id = audit_record.policy_receipt_id) as receipt_entries`

/**
 * Records that an organization is a party to. In version 2 also those of its packages that only the other organization may
 * read: it gets placeholders for their entries. `offset 0` keeps the subquery per record.
 */
export function recordsShownTo(organizationId: string) {
  return fragment`(
    audit_record.sender_org_id = ${organizationId} or audit_record.recipient_org_id = ${organizationId}
    or (audit_record.chain_position is not null and audit_record.sender_org_id = audit_record.recipient_org_id
      and exists (select from package where package.package_id = audit_record.package_id
        and (package.sender_org_id = ${organizationId} or package.recipient_org_id = ${organizationId}) offset 0)))`
}

export type ShownEntry = EvidenceEntry | HiddenEvidenceEntry

interface RecordOfParty extends StoredRecord {
  readonly is_readable: boolean
  readonly last_position: number
}

/** Records that are read and decoded at once. */
const RECORDS_AT_ONCE = 64

export interface FoundEntries {
  readonly entries: readonly ShownEntry[]
  /** Whether the page became too large before it had `limit` entries. */
  readonly isCut: boolean
}

/** AUD-01: entries of packages that the organization is a party to, in order of recording. */
export async function entriesAfter(
  queries: Queries,
  query: EntryQuery,
  pause?: () => Promise<void>,
): Promise<FoundEntries> {
  const { after, limit } = query
  const found: ShownEntry[] = []
  let from = after
  let characters = 0
  for (;;) {
    // A record contains at least one entry and may have started on the previous page.
    const wanted = Math.min(RECORDS_AT_ONCE, limit - found.length)
    const records = await recordsAfter(queries, query, from, wanted)
    for (const { is_readable, last_position, ...record } of records) {
      if (found.length >= limit) break
      const entries: ShownEntry[] = is_readable ? entriesOf(record) : hiddenEntriesOf(record)
      found.push(...entries.filter(({ position }) => position > after))
      characters += record.entries.length + (record.receipt_entries?.length ?? 0)
      from = last_position
    }
    if (found.length >= limit) return { entries: found.slice(0, limit), isCut: false }
    if (records.length < wanted) return { entries: found, isCut: false }
    if (characters > MAXIMUM_PAGE_CHARACTERS) return { entries: found, isCut: true }
    await pause?.()
  }
}

function recordsAfter(queries: Queries, query: EntryQuery, from: number, wanted: number) {
  const { threadId, packageId, organizationId, until } = query
  // There is one index per thread and one per package.
  const filter =
    packageId === undefined ? fragment`thread_id = ${threadId}` : fragment`package_id = ${packageId}`
  return queries.byIndex<RecordOfParty[]>`
    select ${RECORD_COLUMNS}, last_position,
      (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId}) as is_readable
    from audit_record
    where ${filter} and last_position > ${from} and last_position <= ${until}
      and ${recordsShownTo(organizationId)}
    order by last_position limit ${wanted}`
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
