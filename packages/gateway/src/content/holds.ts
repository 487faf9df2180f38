import type { Database } from '@agent-exchange/database'
import { recordChange } from '../people/administration-record.ts'
import { recordAccess } from './access-record.ts'
import { MAXIMUM_HOLD_REASON_CHARACTERS } from './content-limits.ts'

/** Owner of the table content_hold. */

export interface Hold {
  readonly threadId: string
  readonly reason: string
  readonly placedBy: string
  readonly placedAt: string
}

export interface HoldChange {
  readonly agentId: string
  readonly threadId: string
  /** The person who is responsible for it. */
  readonly by: string
  readonly reason: string
}

/** Stops the deletion of a thread's content. False if it is held already. */
export function placeHold(db: Database, now: Date, change: HoldChange): Promise<boolean> {
  const { agentId, threadId, by } = change
  const reason = change.reason.slice(0, MAXIMUM_HOLD_REASON_CHARACTERS)
  const at = now.toISOString()
  return db.begin(async (tx) => {
    const { count } = await tx`
      insert into content_hold (agent_id, thread_id, reason, placed_by, placed_at)
      values (${agentId}, ${threadId}, ${reason}, ${by}, ${at}) on conflict do nothing`
    if (count === 0) return false
    const actor = { kind: 'person', id: by } as const
    await recordAccess(tx, { at, agentId, threadId, action: 'hold_placed', actor, purpose: reason })
    await recordChange(tx, entryOf('hold.place', change, at))
    return true
  })
}

/** What is due is deleted by the next run of the retention. False if there is no hold. */
export function releaseHold(db: Database, now: Date, change: HoldChange): Promise<boolean> {
  const { agentId, threadId, by } = change
  const at = now.toISOString()
  return db.begin(async (tx) => {
    const { count } = await tx`
      delete from content_hold where agent_id = ${agentId} and thread_id = ${threadId}`
    if (count === 0) return false
    const purpose = change.reason.slice(0, MAXIMUM_HOLD_REASON_CHARACTERS)
    const actor = { kind: 'person', id: by } as const
    await recordAccess(tx, { at, agentId, threadId, action: 'hold_released', actor, purpose })
    await recordChange(tx, entryOf('hold.release', change, at))
    return true
  })
}

const entryOf = (
  action: 'hold.place' | 'hold.release',
  { agentId, threadId, by }: HoldChange,
  at: string,
) => ({
  at,
  actor: { kind: 'command', id: by } as const,
  action,
  target: threadId,
  details: { agent: agentId },
})

export async function listHolds(db: Database, agentId: string): Promise<readonly Hold[]> {
  const rows = await db<{ thread_id: string; reason: string; placed_by: string; placed_at: string }[]>`
    select thread_id, reason, placed_by, placed_at from content_hold
    where agent_id = ${agentId} order by placed_at, thread_id limit 1000`
  return rows.map((row) => ({
    threadId: row.thread_id,
    reason: row.reason,
    placedBy: row.placed_by,
    placedAt: row.placed_at,
  }))
}
