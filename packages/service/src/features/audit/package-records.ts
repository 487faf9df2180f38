import type { EvidenceEntry } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { entriesOf, type StoredRecord } from './stored-entries.ts'

/** An audit record with its place in the transparency log. */
export interface PackageRecord {
  readonly packageId: string
  readonly entries: readonly EvidenceEntry[]
  /** Index of its leaf; null while it waits for the sequencer. */
  readonly logIndex: number | null
}

interface Row extends StoredRecord {
  readonly log_index: number | null
}

/** The first records of each package, for an operator: whoever the parties are. */
export async function recordsOfPackages(
  db: Queries,
  packageIds: readonly string[],
  limitEach: number,
): Promise<PackageRecord[]> {
  const rows = await db.byIndex<Row[]>`
    select record.package_id, record.first_position, record.chain_position, record.entries, (
        select audit_entries from policy_receipt
        where policy_receipt.policy_receipt_id = record.policy_receipt_id) as receipt_entries,
      first_index + coalesce(record.log_offset, backfilled.log_offset) as log_index
    from unnest(${[...packageIds]}::text[]) as wanted (id)
    cross join lateral (
      select * from audit_record where package_id = wanted.id order by last_position limit ${limitEach}) as record
    left join log_backfilled_record as backfilled
      on backfilled.thread_id = record.thread_id and backfilled.last_position = record.last_position
    left join log_batch on log_batch.batch_id = coalesce(record.log_batch_id, backfilled.batch_id)`
  return rows.map(({ log_index, ...record }) => ({
    packageId: record.package_id,
    entries: entriesOf(record),
    logIndex: log_index,
  }))
}
