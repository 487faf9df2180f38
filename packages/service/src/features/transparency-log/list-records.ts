import type { LogRecordPage } from '@agent-exchange/protocol'
import type { ReadTile } from '@agent-exchange/log'
import { type Database, fragment } from '@agent-exchange/database'
import type { Caller } from '../../kernel/call.ts'
import type { Context } from '../../kernel/context.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { Problem } from '../../kernel/problem.ts'
import { recordsShownTo } from '../audit/store.ts'
import { findPackageOfParty } from '../packages/store.ts'
import { findThreadOfParty } from '../threads/store.ts'
import { latestPublished } from './checkpoint-store.ts'
import { leafProof, type LeafPlace } from './leaf-place.ts'

export interface RecordQuery {
  readonly caller: Caller
  readonly threadId?: string
  readonly packageId?: string
  readonly after?: string
  readonly limit?: number
}

interface RecordRow extends LeafPlace {
  readonly package_id: string
  readonly first_position: number
  readonly last_position: number
  /** Of the first entry in the chain of its package; null in version 1. */
  readonly chain_position: number | null
}

/**
 * AUD-01: salts and proofs of the records of the caller's packages. Positions are those in the thread; in version 2,
 * `chain` has those in the chain of the package.
 */
export async function listLogRecords(
  db: Database,
  { caller, threadId: wanted, packageId, after, limit: asked }: RecordQuery,
  { context, readTile }: { context: Context; readTile: ReadTile },
): Promise<LogRecordPage> {
  const { organizationId } = caller
  const threadId = await threadOf(db, organizationId, { threadId: wanted, packageId })
  const limit = pageLimit(asked, context.profile, 'O-07')
  const listing = `log records ${organizationId} ${packageId ?? ''} ${threadId}`
  const from = after === undefined ? 0 : Number(readCursor(context.macKey, listing, after))
  const filter =
    packageId === undefined ? fragment`thread_id = ${threadId}` : fragment`package_id = ${packageId}`
  // Before the records: a record that is in the tree by now may still be pending in this checkpoint.
  const checkpoint = await latestPublished(db)
  const rows = await db.byIndex<RecordRow[]>`
    select package_id, first_position, last_position, chain_position, secret, first_index,
      coalesce(record.log_offset, backfilled.log_offset) as log_offset
    from (
      select * from audit_record where ${filter} and last_position > ${from}
        and ${recordsShownTo(organizationId)}
      order by last_position limit ${limit + 1}) as record
    left join log_backfilled_record as backfilled using (thread_id, last_position)
    left join log_batch on log_batch.batch_id = coalesce(record.log_batch_id, backfilled.batch_id)
    order by last_position`
  const shown = rows.slice(0, limit)
  const records = await Promise.all(
    shown.map(async ({ package_id, first_position, last_position, chain_position: first, ...place }) => ({
      package_id,
      first_position,
      last_position,
      ...(first !== null && {
        chain: { first_position: first, last_position: first + last_position - first_position },
      }),
      ...(await leafProof(place, checkpoint, readTile)),
    })),
  )
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return {
    thread_id: threadId,
    checkpoint: checkpoint?.published ?? null,
    records,
    next_cursor: more ? makeCursor(context.macKey, listing, last.last_position) : null,
    has_more: more,
  }
}

/** An unknown thread or package and one of other parties get the same answer. */
export async function threadOf(
  db: Database,
  organizationId: string,
  { threadId, packageId }: { threadId?: string | undefined; packageId?: string | undefined },
): Promise<string> {
  const found =
    packageId === undefined
      ? await findThreadOfParty(db, threadId ?? '', organizationId)
      : await findPackageOfParty(db, packageId, organizationId)
  if (!found) throw new Problem('resource_not_found')
  return found.thread_id
}
