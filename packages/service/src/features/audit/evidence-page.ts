import type { EvidenceEntry } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { entriesAfter, nextRecordAfter } from './store.ts'

/**
 * Positions that one page covers. Where many organizations share a thread, most entries may be none of the caller's:
 * a page then ends before it is full, and its cursor says where to go on.
 */
const MAXIMUM_LOOKED_AT = 5_000

export interface EvidenceRequest {
  readonly threadId: string
  readonly packageId?: string
  readonly organizationId: string
  readonly query: { readonly after?: string; readonly limit?: number }
  readonly context: Context
}

/** A time and a text that tells items of the same time apart: where a list beside the chain goes on. */
export type Mark = readonly [time: string, rest: string]

/** Before every item. */
const START: Mark = ['1970-01-01T00:00:00.000Z', '']

/** One page of one list, where it ended, and whether there is more of it. */
export interface Listed<Item, End> {
  readonly items: readonly Item[]
  readonly end: End
  readonly hasMore: boolean
}

/**
 * Paging of an evidence answer (O-07): the chain and one list beside it go on from the same cursor, each with at most
 * `limit` items on a page. Whichever has ended is empty on the pages that follow.
 */
export function pagingOf({ query, context, ...request }: EvidenceRequest) {
  const limit = pageLimit(query.limit, context.profile, 'O-07')
  const listing = ['evidence lists', request.organizationId, request.threadId, request.packageId ?? '']
  const name = listing.join(' ')
  const [position, ...mark] =
    query.after === undefined
      ? [0, ...START]
      : (JSON.parse(readCursor(context.macKey, name, query.after)) as [number, string, string])
  return {
    limit,
    position,
    mark: mark as Mark,
    isFirst: query.after === undefined,
    /** What the answer says about the next page. */
    after(chain: Listed<unknown, number>, beside: Listed<unknown, Mark>) {
      const hasMore = chain.hasMore || beside.hasMore
      const place = JSON.stringify([chain.end, ...beside.end])
      return {
        next_cursor: hasMore ? makeCursor(context.macKey, name, place) : null,
        has_more: hasMore,
      }
    },
  }
}

export type Paging = ReturnType<typeof pagingOf>

/** Up to `limit` items of a list that was read with one too many, which only shows that there is more. */
export function listed<Row, Item>(
  rows: readonly Row[],
  { limit, mark }: Paging,
  { item, markOf }: { item: (row: Row) => Item; markOf: (row: Row) => Mark },
): Listed<Item, Mark> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(item), end: last ? markOf(last) : mark, hasMore: rows.length > limit }
}

/** The chain of a thread, or the entries about one package in it. */
export async function chainPage(
  queries: Queries,
  { threadId, packageId, organizationId }: EvidenceRequest,
  { position: after, limit }: Paging,
): Promise<Listed<EvidenceEntry, number>> {
  const isThread = packageId === undefined
  const until = isThread ? after + MAXIMUM_LOOKED_AT : Number.MAX_SAFE_INTEGER
  const entries = await entriesAfter(queries, {
    threadId,
    organizationId,
    after,
    until,
    limit: limit + 1,
    ...(packageId !== undefined && { packageId }),
  })
  const items = entries.slice(0, limit)
  const end = items.at(-1)?.position ?? after
  if (entries.length > limit) return { items, end, hasMore: true }
  const next = isThread ? await nextRecordAfter(queries, threadId, until) : undefined
  return next === undefined ? { items, end, hasMore: false } : { items, end: next - 1, hasMore: true }
}
