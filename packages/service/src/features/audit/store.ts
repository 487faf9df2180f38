import type { AuditEvent, EvidenceEntry } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'

interface EntryRow {
  readonly position: number
  readonly event: string | null
  readonly proof: string
  readonly previous_hash: string | null
  readonly hash: string
  readonly recorded_at: string
}

/** Which entries are asked for, on whose behalf. */
export interface EntryQuery {
  readonly threadId: string
  /** Only those of one package. */
  readonly packageId?: string
  readonly organizationId: string
  readonly after: number
  readonly limit: number
}

/** AUD-01: entries of packages that the organization is a party to, in the order they were recorded. */
export async function entriesAfter(queries: Queries, query: EntryQuery): Promise<EvidenceEntry[]> {
  const { threadId, packageId = null, organizationId, after, limit } = query
  const rows = await queries<EntryRow[]>`
    select position, event, proof, previous_hash, hash, recorded_at from audit_entry
    where thread_id = ${threadId} and position > ${after}
      and (${packageId}::text is null or package_id = ${packageId})
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
    order by position limit ${limit}`
  return rows.map(toEntry)
}

/** As it was hashed, plus the hash. */
function toEntry(row: EntryRow): EvidenceEntry {
  const proof = JSON.parse(row.proof) as { kind: string }
  return {
    position: row.position,
    ...(row.event !== null && { event: JSON.parse(row.event) as AuditEvent }),
    proof: { ...proof, recorded_at: row.recorded_at, previous_hash: row.previous_hash, hash: row.hash },
  }
}
