import type { Database, Queries, Transaction } from '@agent-exchange/database'
import { ALIVE_SECONDS } from '@agent-exchange/database/migrations'

/** Table service_process: what each process says about itself. Only the clock of the server sets and reads `seen_at`. */
export interface ProcessRow {
  readonly process_id: string
  readonly role: string
  readonly started_at: string
  readonly seen_at: string
  readonly certificate_expires_at: string | null
  readonly client_ca_expires_at: string | null
  /** Fingerprints. Null: the release of the process cannot rotate the master key. */
  readonly master_key_ids: readonly string[] | null
  readonly disk_free_bytes: number | null
  readonly disk_total_bytes: number | null
  /** The last migration that its release has. */
  readonly code_level: number
}

/** Registers a process, before its first full report. */
export async function announceProcess(
  tx: Transaction,
  row: Pick<ProcessRow, 'process_id' | 'role' | 'started_at' | 'code_level'>,
): Promise<void> {
  const { process_id, role, started_at, code_level } = row
  await tx`
    insert into service_process (process_id, role, started_at, seen_at, code_level)
    values (${process_id}, ${role}, ${started_at}, clock_timestamp(), ${code_level})
    on conflict (process_id) do nothing`
}

export async function reportProcess(db: Database, row: Omit<ProcessRow, 'seen_at'>): Promise<void> {
  await db`
    insert into service_process
      (process_id, role, started_at, seen_at, certificate_expires_at, client_ca_expires_at, master_key_ids,
       disk_free_bytes, disk_total_bytes, code_level)
    values (${row.process_id}, ${row.role}, ${row.started_at}, now(), ${row.certificate_expires_at},
      ${row.client_ca_expires_at}, ${row.master_key_ids && [...row.master_key_ids]}::text[],
      ${row.disk_free_bytes}, ${row.disk_total_bytes}, ${row.code_level})
    on conflict (process_id) do update set seen_at = excluded.seen_at,
      certificate_expires_at = excluded.certificate_expires_at,
      client_ca_expires_at = excluded.client_ca_expires_at, master_key_ids = excluded.master_key_ids,
      disk_free_bytes = excluded.disk_free_bytes, disk_total_bytes = excluded.disk_total_bytes`
}

export async function removeProcess(db: Database, processId: string): Promise<void> {
  await db`delete from service_process where process_id = ${processId}`
}

const MAXIMUM_LISTED = 200

/** Processes that reported recently. */
export async function listProcesses(db: Queries): Promise<ProcessRow[]> {
  return db<ProcessRow[]>`
    select process_id, role, started_at, seen_at, certificate_expires_at, client_ca_expires_at, master_key_ids,
      disk_free_bytes, disk_total_bytes, code_level
    from service_process where seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})
    order by started_at, process_id limit ${MAXIMUM_LISTED}`
}

/** Live processes by role. */
export async function countProcesses(db: Queries): Promise<ReadonlyMap<string, number>> {
  const rows = await db<{ role: string; count: number }[]>`
    select role, count(*)::integer as count from service_process
    where seen_at > now() - make_interval(secs => ${ALIVE_SECONDS}) group by role`
  return new Map(rows.map(({ role, count }) => [role, count]))
}

/** Processes that serve agents. */
export async function countApiProcesses(db: Queries): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from service_process
    where role <> 'worker' and seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})`
  return row?.count ?? 0
}

export async function removeOldProcesses(tx: Transaction, afterSeconds: number): Promise<number> {
  const { count } = await tx`
    delete from service_process where seen_at < now() - make_interval(secs => ${afterSeconds})`
  return count
}
