import type { LogKeyEventPage } from '@agent-exchange/protocol'
import type { ReadTile } from '@agent-exchange/log'
import type { Database } from '@agent-exchange/database'
import type { Context } from '../../kernel/context.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { invalidFromOf } from '../../kernel/key-events.ts'
import { pageLimit } from '../../kernel/page.ts'
import { Problem } from '../../kernel/problem.ts'
import { latestPublished } from './checkpoint-store.ts'
import { leafProof, type LeafPlace } from './leaf-place.ts'

export interface KeyEventQuery {
  readonly agentId: string
  readonly after?: string
  readonly limit?: number
}

interface EventRow extends LeafPlace {
  readonly number: number
  readonly organization_id: string
  readonly key_id: string
  readonly kind: string
  readonly use: string
  readonly thumbprint: string
  readonly valid_from: string
  readonly recorded_at: string
  readonly details: string
}

/** ID-04, ID-07: every key event of an agent with its proof. Key directories are open to all callers, and so is this. */
export async function listLogKeyEvents(
  db: Database,
  { agentId, after, limit: asked }: KeyEventQuery,
  { context, readTile }: { context: Context; readTile: ReadTile },
): Promise<LogKeyEventPage> {
  const limit = pageLimit(asked, context.profile, 'O-07')
  const listing = `log key events ${agentId}`
  const from = after === undefined ? 0 : Number(readCursor(context.macKey, listing, after))
  const [agent] = await db`select from agent where agent_id = ${agentId}`
  if (!agent) throw new Problem('resource_not_found')
  const checkpoint = await latestPublished(db)
  // The details of a platform key's event describe the key. O-13 limits keys and revocations of an agent, so its events can be counted each time.
  const rows = await db<EventRow[]>`
    select event.*, organization_id, log_offset, secret, first_index,
      coalesce(use, details::json ->> 'use') as use,
      coalesce(thumbprint, details::json ->> 'thumbprint') as thumbprint,
      coalesce(valid_from, details::json ->> 'valid_from') as valid_from
    from (
      select event_id, agent_id, key_id, kind, recorded_at, details,
        row_number() over (order by position) as number
      from agent_key_event where agent_id = ${agentId}) as event
    join agent using (agent_id)
    left join agent_key on agent_key.agent_id = event.agent_id and agent_key.key_id = event.key_id
    left join log_key_event using (event_id) left join log_batch using (batch_id)
    where number > ${from} order by number limit ${limit + 1}`
  const shown = rows.slice(0, limit)
  const events = await Promise.all(
    shown.map(async (row) => {
      const invalidFrom = invalidFromOf(JSON.parse(row.details) as object)
      return {
        number: row.number,
        organization_id: row.organization_id,
        key_id: row.key_id,
        kind: row.kind,
        use: row.use,
        thumbprint: row.thumbprint,
        valid_from: row.valid_from,
        recorded_at: row.recorded_at,
        ...(invalidFrom !== undefined && { invalid_from: invalidFrom }),
        ...(await leafProof(row, checkpoint, readTile)),
      }
    }),
  )
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return {
    agent_id: agentId,
    checkpoint: checkpoint?.published ?? null,
    events,
    next_cursor: more ? makeCursor(context.macKey, listing, last.number) : null,
    has_more: more,
  }
}
