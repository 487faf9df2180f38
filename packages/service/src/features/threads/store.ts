import { PROTOCOL_VERSION, type TransportMode } from '@agent-exchange/protocol'
import type { Queries, Transaction } from '../../db/database.ts'
import type { ChainEnd } from '../audit/chain.ts'

/** The owner of the tables thread and thread_participant. */

interface ThreadChange {
  /** The package that is about to be written. */
  readonly row: {
    readonly thread_id: string
    readonly thread_position: number
    readonly transport_mode: TransportMode
    readonly accepted_at: string
  }
  readonly isNew: boolean
  readonly joining: readonly string[]
}

/** Makes new threads, counts their packages and lets organizations join. The threads are locked. */
export async function writeThreads(tx: Transaction, changes: readonly ThreadChange[]): Promise<void> {
  const made = changes.flatMap(({ row, isNew }) => (isNew ? [row] : []))
  if (made.length > 0) {
    await tx`
      insert into thread (thread_id, transport_mode, protocol_version, created_at)
      select thread_id, transport_mode, ${PROTOCOL_VERSION}, accepted_at
      from json_to_recordset(${JSON.stringify(made)}::text::json)
        as row (thread_id text, transport_mode text, accepted_at timestamptz)`
  }
  const joining = changes.flatMap(({ row, joining: organizations }) =>
    organizations.map((organization_id) => ({
      thread_id: row.thread_id,
      organization_id,
      joined_at: row.accepted_at,
    })),
  )
  if (joining.length > 0) {
    await tx`
      insert into thread_participant (thread_id, organization_id, joined_at)
      select thread_id, organization_id, joined_at from json_to_recordset(${JSON.stringify(joining)}::text::json)
        as row (thread_id text, organization_id text, joined_at timestamptz)`
  }
  const counts = new Map(changes.map(({ row }) => [row.thread_id, row.thread_position]))
  await tx`
    update thread set package_count = counted.position
    from unnest(${[...counts.keys()]}::text[], ${[...counts.values()].map(String)}::text[]::bigint[])
      as counted (id, position)
    where thread_id = counted.id`
}

export interface ThreadRow {
  readonly thread_id: string
  readonly transport_mode: TransportMode
}

/** A thread that the organization takes part in. */
export async function findThreadOfParty(
  queries: Queries,
  threadId: string,
  organizationId: string,
): Promise<ThreadRow | undefined> {
  const [row] = await queries<ThreadRow[]>`
    select thread_id, transport_mode from thread join thread_participant using (thread_id)
    where thread_id = ${threadId} and organization_id = ${organizationId}`
  return row
}

/** The end of the audit chain of a thread that the caller has locked. */
export async function chainEnd(tx: Transaction, threadId: string): Promise<ChainEnd> {
  const [row] = await tx<ChainEnd[]>`
    select audit_count as count, audit_hash as hash from thread where thread_id = ${threadId}`
  if (!row) throw new Error('a package without its thread')
  return row
}
