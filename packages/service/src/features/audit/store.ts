import type { AuditEvent, EvidenceEntry } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'

interface EntryRow {
  readonly position: number
  readonly event: string | null
  readonly proof: string
  readonly hash: string
}

/** Which entries are asked for, on whose behalf. */
export interface EntryQuery {
  readonly threadId: string
  /** Only those of one package. */
  readonly packageId?: string
  readonly organizationId: string
  readonly after: number
  readonly until: number
  readonly limit: number
}

/** AUD-01: entries of packages that the organization is a party to, in the order they were recorded. */
export async function entriesAfter(queries: Queries, query: EntryQuery): Promise<EvidenceEntry[]> {
  const { threadId, packageId, organizationId, after, until, limit } = query
  // Each way has its index: an entry is found by its thread or by its package.
  const place =
    packageId === undefined ? queries`thread_id = ${threadId}` : queries`package_id = ${packageId}`
  const rows = await queries<EntryRow[]>`
    select position, event, proof, hash from audit_entry
    where ${place} and position > ${after} and position <= ${until}
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
    order by position limit ${limit}`
  return rows.map(toEntry)
}

/** Whether a thread has entries after a position. Positions have no gap. */
export async function hasEntriesAfter(
  queries: Queries,
  threadId: string,
  position: number,
): Promise<boolean> {
  const rows = await queries`
    select from audit_entry where thread_id = ${threadId} and position = ${position + 1}`
  return rows.length > 0
}

/** As it was hashed, plus the hash. */
function toEntry(row: EntryRow): EvidenceEntry {
  const proof = JSON.parse(row.proof) as EvidenceEntry['proof']
  return {
    position: row.position,
    ...(row.event !== null && { event: JSON.parse(row.event) as AuditEvent }),
    proof: { ...proof, hash: row.hash },
  }
}
