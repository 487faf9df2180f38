import type { Database, Queries, Transaction } from '../../db/database.ts'

/** Table service_process: what each process says about itself. */
export interface ProcessRow {
  readonly process_id: string
  readonly role: string
  readonly started_at: string
  readonly seen_at: string
  readonly certificate_expires_at: string | null
  readonly disk_free_bytes: number | null
  readonly disk_total_bytes: number | null
}

export async function reportProcess(db: Database, row: ProcessRow): Promise<void> {
  await db`
    insert into service_process
      (process_id, role, started_at, seen_at, certificate_expires_at, disk_free_bytes, disk_total_bytes)
    values (${row.process_id}, ${row.role}, ${row.started_at}, ${row.seen_at}, ${row.certificate_expires_at},
      ${row.disk_free_bytes}, ${row.disk_total_bytes})
    on conflict (process_id) do update set seen_at = excluded.seen_at,
      certificate_expires_at = excluded.certificate_expires_at,
      disk_free_bytes = excluded.disk_free_bytes, disk_total_bytes = excluded.disk_total_bytes`
}

export async function removeProcess(db: Database, processId: string): Promise<void> {
  await db`delete from service_process where process_id = ${processId}`
}

const MAXIMUM_LISTED = 200

export async function listProcesses(db: Queries, seenAfter: string): Promise<ProcessRow[]> {
  return db<ProcessRow[]>`
    select process_id, role, started_at, seen_at, certificate_expires_at, disk_free_bytes, disk_total_bytes
    from service_process where seen_at > ${seenAfter} order by started_at, process_id limit ${MAXIMUM_LISTED}`
}

export async function removeOldProcesses(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`delete from service_process where seen_at < ${before}`
  return count
}
