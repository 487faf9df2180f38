import { PROTOCOL_VERSION } from '@agent-exchange/protocol'
import type { Database } from '../../db/database.ts'
import type { Read } from '../../kernel/call.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { Problem } from '../../kernel/problem.ts'
import { toPackageResource, type PackageRow } from '../packages/store.ts'
import { findThreadOfParty } from './store.ts'

/**
 * PKG-13: the packages that the caller's organization is a party to, in the order of acceptance, and as participants
 * itself and its counterparties in them (O-31).
 */
export const getThread: Read<'getThread'> = async ({ caller, params, query, context }, db) => {
  const { organizationId } = caller
  const thread = await findThreadOfParty(db, params.thread_id, organizationId)
  if (!thread) throw new Problem('resource_not_found')
  const limit = pageLimit(query.limit, context.profile['O-40'])
  const listing = `getThread ${organizationId} ${thread.thread_id}`
  const after = query.after === undefined ? 0 : Number(readCursor(context.cursorSecret, listing, query.after))
  const [rows, participants] = await Promise.all([
    packagesAfter(db, thread.thread_id, organizationId, after, limit + 1),
    counterparties(db, thread.thread_id, organizationId),
  ])
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    thread_id: thread.thread_id,
    protocol_version: PROTOCOL_VERSION,
    transport_mode: thread.transport_mode,
    participants,
    packages: page.map((row) => toPackageResource(row, context)),
    state: context.profile['O-05'].thread_state,
    ...(rows.length > limit &&
      last && {
        next_cursor: makeCursor(context.cursorSecret, listing, last.thread_position),
        has_more: true,
      }),
  }
}

function packagesAfter(db: Database, threadId: string, organizationId: string, after: number, limit: number) {
  return db<PackageRow[]>`
    select * from package where thread_id = ${threadId} and thread_position > ${after}
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
    order by thread_position limit ${limit}`
}

/** The organization itself and those it has exchanged packages with in this thread, in the order of joining. */
async function counterparties(db: Database, threadId: string, organizationId: string): Promise<string[]> {
  const rows = await db<{ organization_id: string }[]>`
    select organization_id from thread_participant as member where thread_id = ${threadId} and (
      organization_id = ${organizationId} or exists (
        select from package where package.thread_id = member.thread_id and (
          sender_org_id = ${organizationId} and recipient_org_id = member.organization_id
          or recipient_org_id = ${organizationId} and sender_org_id = member.organization_id)))
    order by joined_at, organization_id`
  return rows.map((row) => row.organization_id)
}
