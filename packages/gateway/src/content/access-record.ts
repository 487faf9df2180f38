import type { Queries, Transaction } from '@agent-exchange/database'

/** Owner of the table access_record, which the database lets nobody change. */

export interface AccessEntry {
  readonly at: string
  readonly agentId: string
  readonly threadId: string
  readonly packageId?: string
  readonly action: 'read' | 'deleted' | 'hold_placed' | 'hold_released'
  readonly actor: { readonly kind: 'person' | 'system' | 'model' | 'gateway'; readonly id: string }
  readonly purpose: string
}

/** Entries of one page. */
const MAXIMUM_LISTED = 1_000

export async function recordAccess(tx: Transaction, entry: AccessEntry): Promise<void> {
  const { at, agentId, threadId, packageId = null, action, actor, purpose } = entry
  await tx`
    insert into access_record (at, agent_id, thread_id, package_id, action, actor_kind, actor_id, purpose)
    values (${at}, ${agentId}, ${threadId}, ${packageId}, ${action}, ${actor.kind}, ${actor.id}, ${purpose})`
}

/** The entries of a package, oldest first. */
export async function listAccess(db: Queries, agentId: string, packageId: string): Promise<AccessEntry[]> {
  const rows = await db<AccessRow[]>`
    select at, thread_id, action, actor_kind, actor_id, purpose from access_record
    where agent_id = ${agentId} and package_id = ${packageId} order by number limit ${MAXIMUM_LISTED}`
  return rows.map(({ at, thread_id, action, actor_kind, actor_id, purpose }) => ({
    at,
    agentId,
    threadId: thread_id,
    packageId,
    action,
    actor: { kind: actor_kind, id: actor_id },
    purpose,
  }))
}

interface AccessRow {
  readonly at: string
  readonly thread_id: string
  readonly action: AccessEntry['action']
  readonly actor_kind: AccessEntry['actor']['kind']
  readonly actor_id: string
  readonly purpose: string
}
