import { hash as digest } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { Database } from '@agent-exchange/database'
import { RECORD_COLUMNS } from '../audit/store.ts'
import { entriesOf, type StoredRecord } from '../audit/stored-entries.ts'
import { RECEIPT_SIGNATURE } from '../packages/store.ts'
import { checkEnds, followChain, type PackageChains, type PackageOfRecord } from './check-package-chains.ts'
import { BackupContradiction } from './check.ts'

const RECORDS_PER_STEP = 500

interface ChainRecord extends StoredRecord, PackageOfRecord {
  readonly thread_id: string
  readonly last_position: number
}

/** What was read of one thread: its last position, its last entry of version 1, and the chains of its packages. */
interface ThreadProgress {
  readonly threadId: string
  position: number
  hash: string | null
  readonly chains: PackageChains
}

const startThread = (threadId: string): ThreadProgress => ({
  threadId,
  position: 0,
  hash: null,
  chains: new Map(),
})

/** Recomputes the hash of every audit entry, and compares the end of each chain with its thread or package. */
export async function checkAuditChains(db: Database): Promise<string> {
  let thread = startThread('')
  let [threads, entries] = [0, 0]
  for (;;) {
    const records = await readRecords(db, thread)
    for (const record of records) {
      if (record.thread_id !== thread.threadId) {
        if (threads > 0) await requireEnd(db, thread)
        threads++
        thread = startThread(record.thread_id)
      }
      const found = entriesOf(record)
      for (const entry of found) {
        if (entry.position !== thread.position + 1) throw broken(thread, entry.position)
        thread.position = entry.position
        if (entry.chain) followChain(thread.chains, record, entry)
        else thread.hash = nextHash(thread, entry)
      }
      entries += found.length
    }
    if (records.length < RECORDS_PER_STEP) break
  }
  if (threads > 0) await requireEnd(db, thread)
  await requireRecords(db)
  return `The audit chains of ${threads} threads are complete: ${entries} entries.`
}

async function readRecords(db: Database, { threadId, position }: ThreadProgress): Promise<ChainRecord[]> {
  return db.byIndex<ChainRecord[]>`
    select thread_id, last_position, ${RECORD_COLUMNS}, package.*
    from (
      select * from audit_record where (thread_id, last_position) > (${threadId}, ${position})
      order by thread_id, last_position limit ${RECORDS_PER_STEP}) as audit_record
    left join lateral (
      select content_digest, chain_position as end_position, chain_link as end_link, ${RECEIPT_SIGNATURE}
      from package where package.package_id = audit_record.package_id) as package on true
    order by thread_id, last_position`
}

/** Version 1: the hash of an entry covers the hash of the entry of version 1 before it. */
function nextHash(thread: ThreadProgress, entry: ReturnType<typeof entriesOf>[number]): string {
  const { hash, ...proof } = entry.proof
  const isLinked = (proof.previous_hash ?? null) === thread.hash
  if (!isLinked || digest('sha256', canonicalize({ ...entry, proof }), 'hex') !== hash)
    throw broken(thread, entry.position)
  return hash
}

function broken({ threadId }: ThreadProgress, position: number): BackupContradiction {
  return new BackupContradiction(`The audit chain of ${threadId} is broken at entry ${position}.`)
}

async function requireEnd(db: Database, { threadId, position, hash, chains }: ThreadProgress): Promise<void> {
  checkEnds(chains)
  const [thread] = await db<{ audit_count: number; audit_hash: string | null }[]>`
    select audit_count, audit_hash from thread where thread_id = ${threadId}`
  if (thread?.audit_count !== position || thread.audit_hash !== hash)
    throw new BackupContradiction(`The audit chain of ${threadId} does not end where its thread says.`)
}

async function requireRecords(db: Database): Promise<void> {
  const [thread] = await db<{ thread_id: string }[]>`
    select thread_id from thread where audit_count > 0
      and not exists (select from audit_record where audit_record.thread_id = thread.thread_id) limit 1`
  if (thread) throw new BackupContradiction(`Thread ${thread.thread_id} has lost its audit records.`)
  const [lost] = await db<{ package_id: string }[]>`
    select package_id from package where chain_position is not null
      and not exists (select from audit_record where audit_record.package_id = package.package_id) limit 1`
  if (lost) throw new BackupContradiction(`Package ${lost.package_id} has lost its audit records.`)
}
