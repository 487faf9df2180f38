import { PROTOCOL_VERSION, type TransportMode } from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Queries, Transaction, Write } from '../../db/database.ts'
import type { ChainEnd } from '../audit/chain.ts'

/** The owner of the table thread. */

/** A thread as it is after what is about to be committed. */
export interface ThreadRow {
  readonly thread_id: string
  readonly transport_mode: TransportMode
  readonly created_at: string
  readonly package_count: number
  readonly chain: ChainEnd
  /** Pairs that are new in it, as `pairName` writes them. */
  readonly joining: readonly string[]
}

/** Two organizations that exchange packages in a thread, seen from the first; their ids have no space and no comma. */
export const pairName = (organization: string, counterparty: string) => `${organization} ${counterparty}`

/** Who stands in pairs, in the order of joining. */
export function organizationsIn(pairs: readonly string[]): string[] {
  return [...new Set(pairs.flatMap((pair) => pair.split(' ')))]
}

/** For threads that are new, and to bring those that exist to where they are now. The threads are locked. */
export function threadsWrite(tx: Transaction, threads: readonly ThreadRow[]): Write {
  const rows = threads.map(({ chain, joining, ...row }) => ({
    ...row,
    audit_count: chain.count,
    audit_hash: chain.hash,
    joining: joining.length > 0 ? joining.join(',') : null,
  }))
  const column = columnsOf(rows)
  // Where nobody joins, the pairs stay as they are: a long list of them is not written again.
  return tx`
    insert into thread
      (thread_id, transport_mode, protocol_version, created_at, package_count, audit_count, audit_hash, pairs)
    select thread_id, transport_mode, ${PROTOCOL_VERSION}, created_at::timestamptz, package_count::bigint,
      audit_count::bigint, nullif(audit_hash, ''), string_to_array(coalesce(joining, ''), ',')
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('thread_id')}, mark), string_to_array(${column('transport_mode')}, mark),
      string_to_array(${column('created_at')}, mark), string_to_array(${column('package_count')}, mark),
      string_to_array(${column('audit_count')}, mark), string_to_array(${column('audit_hash')}, mark),
      string_to_array(${column('joining')}, mark)) as row (
      thread_id, transport_mode, created_at, package_count, audit_count, audit_hash, joining)
    on conflict (thread_id) do update set
      package_count = excluded.package_count, audit_count = excluded.audit_count, audit_hash = excluded.audit_hash,
      pairs = case when excluded.pairs = '{}' then thread.pairs else thread.pairs || excluded.pairs end`
}

export interface ThreadOfParty {
  readonly thread_id: string
  readonly transport_mode: TransportMode
  readonly package_count: number
  /** The organization itself and those it has exchanged packages with, in the order of joining (O-31). */
  readonly participants: readonly string[]
}

/** A thread that the organization takes part in. */
export async function findThreadOfParty(
  queries: Queries,
  threadId: string,
  organizationId: string,
): Promise<ThreadOfParty | undefined> {
  const [row] = await queries<(Omit<ThreadOfParty, 'participants'> & { pairs: string[] })[]>`
    select thread_id, transport_mode, package_count, pairs from thread where thread_id = ${threadId}`
  if (!row) return undefined
  const { pairs, ...thread } = row
  const seen = new Set(
    organizationsIn(pairs.filter((pair) => organizationsIn([pair]).includes(organizationId))),
  )
  if (seen.size === 0) return undefined
  return { ...thread, participants: organizationsIn(pairs).filter((organization) => seen.has(organization)) }
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
