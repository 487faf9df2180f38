import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import type { Read } from '../../kernel/call.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireStreamAccess } from './stream-access.ts'

/**
 * EVT-10: the organization's stream in ascending sequence. Sequence numbers become visible in order, so a reader who
 * follows the cursor misses nothing.
 */
export const listNotifications: Read<'listNotifications'> = async ({ caller, query, context }, db) => {
  requireStreamAccess(caller, context)
  const { organizationId } = caller
  const limit = pageLimit(query.limit, context.profile, 'O-15')
  const listing = `listNotifications ${organizationId}`
  const after = query.after === undefined ? 0 : Number(readCursor(context.macKey, listing, query.after))
  const rows = await db.byIndex<{ sequence: number; body: string }[]>`
    select sequence, body from notification
    where organization_id = ${organizationId} and sequence > ${after} order by sequence limit ${limit + 1}`
  // Queried after the rows, so that it reflects what retention has removed from them meanwhile.
  const earliest = rows[0]?.sequence ?? (await firstRetained(db, organizationId))
  // Retention deleted notifications in between; skipping them silently would look like a complete stream.
  if (query.after !== undefined && after + 1 < earliest) throw new Problem('cursor_expired')
  const page = rows.slice(0, limit)
  // An empty page still needs a cursor to continue from.
  const position = page.at(-1)?.sequence ?? Math.max(after, earliest - 1)
  return {
    items: page.map(({ body }) => JSON.parse(body) as NotificationEnvelope),
    next_cursor: makeCursor(context.macKey, listing, position),
    has_more: rows.length > limit,
  }
}

async function firstRetained(db: Database, organizationId: string): Promise<number> {
  const [row] = await db<{ first_retained: number }[]>`
    select first_retained from notification_stream where organization_id = ${organizationId}`
  return row?.first_retained ?? 1
}
