import { PROTOCOL_VERSION } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import type { Read } from '../../kernel/call.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { MAXIMUM_PAGE_CHARACTERS, pageLimit } from '../../kernel/page.ts'
import { Problem } from '../../kernel/problem.ts'
import { toPackageResource } from '../packages/package-resource.ts'
import type { PackageRow } from '../packages/store.ts'
import { findThreadOfParty } from './store.ts'

/** Positions that one page scans. In a thread of many organizations few of them may be visible to the caller. */
const MAXIMUM_SCANNED = 5_000

/**
 * PKG-13: the packages that the caller's organization is a party to, in order of acceptance. Participants are the
 * organization and its counterparties in these packages (O-31).
 */
export const getThread: Read<'getThread'> = async ({ caller, params, query, context, pause }, db) => {
  const { organizationId } = caller
  const thread = await findThreadOfParty(db, params.thread_id, organizationId)
  if (!thread) throw new Problem('resource_not_found')
  const limit = pageLimit(query.limit, context.profile, 'O-40')
  const listing = `getThread ${organizationId} ${thread.thread_id}`
  const after = query.after === undefined ? 0 : Number(readCursor(context.macKey, listing, query.after))
  const wanted = { threadId: thread.thread_id, organizationId, after, limit: limit + 1 }
  const { rows, isCut } = await packagesAfter(db, wanted, pause)
  const page = rows.slice(0, limit)
  const isFull = isCut || rows.length > limit
  const hasMore = isFull || thread.package_count > after + MAXIMUM_SCANNED
  const end = isFull ? (page.at(-1)?.thread_position ?? after) : after + MAXIMUM_SCANNED
  return {
    thread_id: thread.thread_id,
    protocol_version: PROTOCOL_VERSION,
    transport_mode: thread.transport_mode,
    participants: [...thread.participants],
    packages: page.map((row) => toPackageResource(row, context, organizationId)),
    state: context.profile['O-05'].thread_state,
    ...(hasMore && { next_cursor: makeCursor(context.macKey, listing, end), has_more: true }),
  }
}

interface PackageQuery {
  readonly threadId: string
  readonly organizationId: string
  readonly after: number
  readonly limit: number
}

/** Packages that are read at once. */
const ROWS_AT_ONCE = 100

/** Reads the rows of one page in parts. `isCut`: it became too large before it had `limit` rows. */
async function packagesAfter(
  db: Database,
  { threadId, organizationId, after, limit }: PackageQuery,
  pause?: () => Promise<void>,
): Promise<{ readonly rows: readonly PackageRow[]; readonly isCut: boolean }> {
  const rows: PackageRow[] = []
  let characters = 0
  for (;;) {
    const wanted = Math.min(ROWS_AT_ONCE, limit - rows.length)
    const part = await db.byIndex<PackageRow[]>`
      select * from package
      where thread_id = ${threadId} and thread_position > ${rows.at(-1)?.thread_position ?? after}
        and thread_position <= ${after + MAXIMUM_SCANNED}
        and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
      order by thread_position limit ${wanted}`
    rows.push(...part)
    for (const { metadata } of part) characters += metadata.length
    if (part.length < wanted || rows.length >= limit) return { rows, isCut: false }
    if (characters > MAXIMUM_PAGE_CHARACTERS) return { rows, isCut: true }
    await pause?.()
  }
}
