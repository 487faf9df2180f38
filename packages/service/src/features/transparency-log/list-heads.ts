import type { LogHeadPage } from '@agent-exchange/protocol'
import { PACKAGE_HEAD_TYPE, type PackageHead } from '@agent-exchange/log'
import { type Database, fragment } from '@agent-exchange/database'
import type { Context } from '../../kernel/context.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { latestPublished } from './checkpoint-store.ts'
import { threadOf, type RecordQuery } from './list-records.ts'
import { readLogState } from './log-state-store.ts'

interface HeadRow {
  readonly package_id: string
  readonly thread_position: number
  readonly chain_position: number
  readonly chain_link: Uint8Array
}

/**
 * AUD-01: where the chain of each of the caller's packages ends, signed with the statement key. The checkpoint is read
 * first: every record that it covers was committed before, so an entry beyond the stated position whose leaf it covers
 * proves that the statement is false. Packages of version 1 have no chain of their own.
 */
export async function listPackageHeads(
  db: Database,
  { caller: { organizationId }, threadId: wanted, packageId, after, limit: asked }: RecordQuery,
  context: Context,
): Promise<LogHeadPage> {
  const threadId = await threadOf(db, organizationId, { threadId: wanted, packageId })
  const limit = pageLimit(asked, context.profile, 'O-07')
  const listing = `package heads ${organizationId} ${packageId ?? ''} ${threadId}`
  const from = after === undefined ? 0 : Number(readCursor(context.macKey, listing, after))
  const { origin } = await readLogState(db)
  const size = (await latestPublished(db))?.size ?? 0
  const statedAt = context.clock.now()
  const filter =
    packageId === undefined ? fragment`thread_id = ${threadId}` : fragment`package_id = ${packageId}`
  const rows = await db.byIndex<HeadRow[]>`
    select package_id, thread_position, chain_position, chain_link from package
    where ${filter} and thread_position > ${from} and chain_position is not null
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})
    order by thread_position limit ${limit + 1}`
  const shown = rows.slice(0, limit)
  const heads = await Promise.all(
    shown.map(async (row): Promise<PackageHead> => {
      // Members in RFC 8785 order, the order that is signed.
      const head = {
        link: Buffer.from(row.chain_link).toString('hex'),
        log: { origin, size },
        package_id: row.package_id,
        position: row.chain_position,
        stated_at: statedAt,
        thread_id: threadId,
        type: PACKAGE_HEAD_TYPE,
      } as const
      return { ...head, signature: await context.platform.sign(head, 'signature') }
    }),
  )
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return {
    thread_id: threadId,
    heads,
    next_cursor: more ? makeCursor(context.macKey, listing, last.thread_position) : null,
    has_more: more,
  }
}
