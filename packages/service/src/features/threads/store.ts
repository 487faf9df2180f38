import { PROTOCOL_VERSION, type TransportMode } from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Queries, Transaction } from '../../db/database.ts'
import type { ChainEnd } from '../audit/chain.ts'

/** The owner of the tables thread and thread_participant. */

/** A thread as it is after what is about to be committed. */
export interface ThreadRow {
  readonly thread_id: string
  readonly transport_mode: TransportMode
  readonly created_at: string
  readonly package_count: number
  readonly chain: ChainEnd
}

/** Two organizations that exchange packages in a thread, seen from one of them. */
export interface Participation {
  readonly thread_id: string
  readonly organization_id: string
  readonly counterparty_id: string
  readonly joined_at: string
}

/** Makes threads, or brings those that exist to where they are now. The threads are locked. */
export async function writeThreads(tx: Transaction, threads: readonly ThreadRow[]): Promise<void> {
  const rows = threads.map(({ chain, ...row }) => ({
    ...row,
    audit_count: chain.count,
    audit_hash: chain.hash,
  }))
  const column = columnsOf(rows)
  await tx`
    insert into thread
      (thread_id, transport_mode, protocol_version, created_at, package_count, audit_count, audit_hash)
    select thread_id, transport_mode, ${PROTOCOL_VERSION}, created_at::timestamptz, package_count::bigint,
      audit_count::bigint, nullif(audit_hash, '')
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('thread_id')}, mark), string_to_array(${column('transport_mode')}, mark),
      string_to_array(${column('created_at')}, mark), string_to_array(${column('package_count')}, mark),
      string_to_array(${column('audit_count')}, mark), string_to_array(${column('audit_hash')}, mark)) as row (
      thread_id, transport_mode, created_at, package_count, audit_count, audit_hash)
    on conflict (thread_id) do update set
      package_count = excluded.package_count, audit_count = excluded.audit_count, audit_hash = excluded.audit_hash`.execute()
}

/** Lets organizations join threads that are locked. */
export async function insertParticipations(tx: Transaction, rows: readonly Participation[]): Promise<void> {
  if (rows.length === 0) return
  const column = columnsOf(rows)
  await tx`
    insert into thread_participant (thread_id, organization_id, counterparty_id, joined_at)
    select thread_id, organization_id, counterparty_id, joined_at::timestamptz
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('thread_id')}, mark), string_to_array(${column('organization_id')}, mark),
      string_to_array(${column('counterparty_id')}, mark), string_to_array(${column('joined_at')}, mark)) as row (
      thread_id, organization_id, counterparty_id, joined_at)`.execute()
}

/** A thread that the organization takes part in. */
export async function findThreadOfParty(
  queries: Queries,
  threadId: string,
  organizationId: string,
): Promise<Pick<ThreadRow, 'thread_id' | 'transport_mode' | 'package_count'> | undefined> {
  const [row] = await queries<ThreadRow[]>`
    select thread_id, transport_mode, package_count from thread where thread_id = ${threadId} and exists (
      select from thread_participant where thread_participant.thread_id = thread.thread_id
        and organization_id = ${organizationId})`
  return row
}

/** The organization itself and those it has exchanged packages with in this thread, in the order of joining (O-31). */
export async function counterpartiesOf(
  queries: Queries,
  threadId: string,
  organizationId: string,
): Promise<string[]> {
  const rows = await queries<{ organization_id: string }[]>`
    select organization_id from thread_participant
    where thread_id = ${threadId} and (organization_id = ${organizationId} or counterparty_id = ${organizationId})
    group by organization_id
    order by (select min(joined_at) from thread_participant as any_of
      where any_of.thread_id = ${threadId} and any_of.organization_id = thread_participant.organization_id),
      organization_id`
  return rows.map((row) => row.organization_id)
}

/** The ends of the audit chains of threads that the caller has locked. */
export async function chainEnds(tx: Transaction, ids: readonly string[]): Promise<Map<string, ChainEnd>> {
  const rows = await tx<(ChainEnd & { thread_id: string })[]>`
    select thread_id, audit_count as count, audit_hash as hash from thread where thread_id = any(${[...ids]})`.execute()
  return new Map(rows.map(({ thread_id, count, hash }) => [thread_id, { count, hash }]))
}

export async function moveChainEnds(tx: Transaction, ends: ReadonlyMap<string, ChainEnd>): Promise<void> {
  const rows = [...ends].map(([thread_id, end]) => ({ thread_id, ...end }))
  await tx`
    update thread set audit_count = moved.count, audit_hash = moved.hash
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as moved (thread_id text, count bigint, hash text)
    where thread.thread_id = moved.thread_id`.execute()
}
