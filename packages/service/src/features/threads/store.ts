import { PROTOCOL_VERSION, type TransportMode } from '@agent-exchange/protocol'
import { column, copyTarget, type Queries, type Transaction } from '@agent-exchange/database'
import { columnsOf } from '../../kernel/row-columns.ts'
import type { ThreadEnd } from '../audit/chain.ts'

/** The owner of the table thread. */

/** The state of a thread after the current transaction. */
export interface ThreadRow {
  readonly thread_id: string
  readonly transport_mode: TransportMode
  readonly created_at: string
  readonly package_count: number
  readonly end: ThreadEnd
  /** Whether this transaction creates it. */
  readonly isNew: boolean
  /** New pairs, in the format of `pairName`. */
  readonly joining: readonly string[]
}

/** A pair of organizations that exchange packages in a thread. Ids contain neither spaces nor commas. */
export const pairName = (organization: string, counterparty: string) => `${organization} ${counterparty}`

/** The organizations of the pairs, in order of joining. */
export function organizationsIn(pairs: readonly string[]): string[] {
  return [...new Set(pairs.flatMap((pair) => pair.split(' ')))]
}

type NewThread = Omit<ThreadRow, 'end' | 'joining' | 'isNew'> & {
  readonly protocol_version: string
  readonly audit_count: number
  readonly audit_hash: string | null
  readonly audit_recorded_at: string
  readonly pairs: readonly string[]
}

const THREADS = copyTarget<NewThread>('thread', {
  thread_id: column.text,
  transport_mode: column.text,
  protocol_version: column.text,
  created_at: column.timestamptz,
  package_count: column.bigint,
  audit_count: column.bigint,
  audit_hash: column.text,
  audit_recorded_at: column.timestamptz,
  pairs: column.textArray,
})

/** Inserts new threads and updates existing ones. The caller has locked all of them. */
export async function saveThreads(tx: Transaction, threads: readonly ThreadRow[]): Promise<void> {
  const created = threads.filter(({ isNew }) => isNew)
  const existing = threads.filter(({ isNew }) => !isNew)
  await Promise.all([tx.copy(THREADS, created.map(toNewThread)), updateThreads(tx, existing)])
}

function toNewThread({ end, joining, ...row }: ThreadRow): NewThread {
  return {
    ...row,
    protocol_version: PROTOCOL_VERSION,
    audit_count: end.count,
    audit_hash: end.hash,
    audit_recorded_at: end.recordedAt,
    pairs: joining,
  }
}

async function updateThreads(tx: Transaction, threads: readonly ThreadRow[]): Promise<void> {
  if (threads.length === 0) return
  const rows = threads.map(({ thread_id, package_count, end, joining }) => ({
    thread_id,
    package_count,
    audit_count: end.count,
    audit_hash: end.hash,
    audit_recorded_at: end.recordedAt,
    joining: joining.length > 0 ? joining.join(',') : null,
  }))
  const sent = columnsOf(rows)
  // Pairs are rewritten only if one is added, because the list may be long.
  await tx`
    update thread set package_count = moved.package_count::bigint, audit_count = moved.audit_count::bigint,
      audit_hash = nullif(moved.audit_hash, ''), audit_recorded_at = moved.audit_recorded_at::timestamptz,
      pairs = case when coalesce(joining, '') = '' then pairs else pairs || string_to_array(joining, ',') end
    from (select ${sent.separator}::text as mark) as marked, unnest(
      string_to_array(${sent('thread_id')}, mark), string_to_array(${sent('package_count')}, mark),
      string_to_array(${sent('audit_count')}, mark), string_to_array(${sent('audit_hash')}, mark),
      string_to_array(${sent('audit_recorded_at')}, mark), string_to_array(${sent('joining')}, mark)) as moved (
      thread_id, package_count, audit_count, audit_hash, audit_recorded_at, joining)
    where thread.thread_id = moved.thread_id`
}

export interface ThreadOfParty {
  readonly thread_id: string
  readonly transport_mode: TransportMode
  readonly package_count: number
  /** The organization and its counterparties, in order of joining (O-31). */
  readonly participants: readonly string[]
}

/** Undefined if the thread does not exist or the organization is not a party to it. */
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

/** A thread as an operator sees it. */
export interface ThreadFacts {
  readonly thread_id: string
  readonly transport_mode: TransportMode
  readonly protocol_version: string
  readonly created_at: string
  readonly package_count: number
  /** Audit entries of its packages. */
  readonly audit_count: number
  /** Its organizations, in order of joining. */
  readonly organizations: readonly string[]
}

export async function findThread(queries: Queries, threadId: string): Promise<ThreadFacts | undefined> {
  const [row] = await queries<(Omit<ThreadFacts, 'organizations'> & { pairs: string[] })[]>`
    select thread_id, transport_mode, protocol_version, created_at, package_count, audit_count, pairs
    from thread where thread_id = ${threadId}`
  if (!row) return undefined
  const { pairs, ...thread } = row
  return { ...thread, organizations: organizationsIn(pairs).slice(0, MAXIMUM_ORGANIZATIONS_SHOWN) }
}

const MAXIMUM_ORGANIZATIONS_SHOWN = 100

/** The ends of the audit entries of the given threads, which the caller has locked. */
export async function threadEnds(tx: Transaction, ids: readonly string[]): Promise<Map<string, ThreadEnd>> {
  const rows = await tx<{ thread_id: string; count: number; hash: string | null; recorded_at: string }[]>`
    select thread_id, audit_count as count, audit_hash as hash, audit_recorded_at as recorded_at
    from thread where thread_id = any(${[...ids]})`
  return new Map(
    rows.map(({ thread_id, count, hash, recorded_at: recordedAt }) => [
      thread_id,
      { count, hash, recordedAt },
    ]),
  )
}

export async function moveThreadEnds(tx: Transaction, ends: ReadonlyMap<string, ThreadEnd>): Promise<void> {
  const rows = [...ends].map(([thread_id, { count, hash, recordedAt }]) => ({
    thread_id,
    count,
    hash,
    recorded_at: recordedAt,
  }))
  const sent = columnsOf(rows)
  await tx`
    update thread set audit_count = moved.count::bigint, audit_hash = nullif(moved.hash, ''),
      audit_recorded_at = moved.recorded_at::timestamptz
    from (select ${sent.separator}::text as mark) as marked, unnest(
      string_to_array(${sent('thread_id')}, mark), string_to_array(${sent('count')}, mark),
      string_to_array(${sent('hash')}, mark), string_to_array(${sent('recorded_at')}, mark)) as moved (
      thread_id, count, hash, recorded_at)
    where thread.thread_id = moved.thread_id`
}
