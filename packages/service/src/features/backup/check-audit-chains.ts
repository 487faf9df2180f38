import { hash as digest } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { Database } from '../../db/database.ts'
import { entriesOf, type StoredRecord } from '../audit/store.ts'
import { BackupContradiction } from './check.ts'

const RECORDS_PER_STEP = 500

interface ChainRecord extends StoredRecord {
  readonly thread_id: string
  readonly last_position: number
}

interface ChainEnd {
  readonly threadId: string
  readonly position: number
  readonly hash: string | null
}

/** Recomputes the hash of every audit entry, and compares the end of each chain with its thread. */
export async function checkAuditChains(db: Database): Promise<string> {
  let end: ChainEnd = { threadId: '', position: 0, hash: null }
  let [threads, entries] = [0, 0]
  for (;;) {
    const records = await readRecords(db, end)
    for (const record of records) {
      if (record.thread_id !== end.threadId) {
        if (threads > 0) await requireEnd(db, end)
        threads++
        end = { threadId: record.thread_id, position: 0, hash: null }
      }
      const found = entriesOf(record)
      end = found.reduce((last, entry) => linkTo(last, entry), end)
      entries += found.length
    }
    if (records.length < RECORDS_PER_STEP) break
  }
  if (threads > 0) await requireEnd(db, end)
  const [missing] = await db<{ thread_id: string }[]>`
    select thread_id from thread where audit_count > 0
      and not exists (select from audit_record where audit_record.thread_id = thread.thread_id) limit 1`
  if (missing) throw new BackupContradiction(`Thread ${missing.thread_id} has lost its audit records.`)
  return `The audit chains of ${threads} threads are complete: ${entries} entries.`
}

async function readRecords(db: Database, { threadId, position }: ChainEnd): Promise<ChainRecord[]> {
  return db.byIndex<ChainRecord[]>`
    select thread_id, last_position, entries, (
      select audit_entries from policy_receipt
      where policy_receipt.policy_receipt_id = audit_record.policy_receipt_id) as receipt_entries
    from audit_record where (thread_id, last_position) > (${threadId}, ${position})
    order by thread_id, last_position limit ${RECORDS_PER_STEP}`
}

function linkTo(end: ChainEnd, entry: ReturnType<typeof entriesOf>[number]): ChainEnd {
  const { hash, ...proof } = entry.proof
  const isNext = entry.position === end.position + 1 && (proof['previous_hash'] ?? null) === end.hash
  if (!isNext || digest('sha256', canonicalize({ ...entry, proof }), 'hex') !== hash)
    throw new BackupContradiction(`The audit chain of ${end.threadId} is broken at entry ${entry.position}.`)
  return { threadId: end.threadId, position: entry.position, hash }
}

async function requireEnd(db: Database, { threadId, position, hash }: ChainEnd): Promise<void> {
  const [thread] = await db<{ audit_count: number; audit_hash: string | null }[]>`
    select audit_count, audit_hash from thread where thread_id = ${threadId}`
  if (thread?.audit_count !== position || thread.audit_hash !== hash)
    throw new BackupContradiction(`The audit chain of ${threadId} does not end where its thread says.`)
}
