import { chainRecordLeaf, recordLeaf } from '@agent-exchange/log'
import { column, copyTarget, type Transaction } from '@agent-exchange/database'
import { queueLogBatch } from '../../kernel/log-pending-store.ts'
import { toLogBatch } from '../../kernel/log-batch.ts'
import type { AuditRecord } from './chain.ts'

type StoredRecord = Omit<AuditRecord, 'entries' | 'logged'> & {
  readonly entries: string
  readonly log_batch_id: Uint8Array
  readonly log_offset: number
}

const RECORDS = copyTarget<StoredRecord>('audit_record', {
  thread_id: column.text,
  first_position: column.bigint,
  last_position: column.bigint,
  chain_position: column.bigint,
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
  const { package_id: packageId, thread_id: threadId, logged } = record
  if ('lastLink' in logged) return chainRecordLeaf({ packageId, ...logged }, salt)
  const positions = { firstPosition: record.first_position, lastPosition: record.last_position }
  return recordLeaf({ packageId, threadId, ...positions, ...logged }, salt)
}
