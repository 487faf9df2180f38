import type { EvidenceEntry, HiddenEvidenceEntry, OperationId } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import type { Call } from '../../kernel/call.ts'
import type { Context } from '../../kernel/context.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { entriesAfter, nextRecordAfter, type ShownEntry } from './store.ts'

/**
 * Positions that one page scans. In a thread of many organizations few entries may be visible to the caller, so a page
 * may end before it is full.
 */
const MAXIMUM_SCANNED = 5_000

export interface EvidenceRequest {
  readonly threadId: string
  readonly packageId?: string
  readonly organizationId: string
  readonly query: { readonly after?: string; readonly limit?: number }
  readonly context: Context
  readonly pause?: Call<OperationId>['pause']
}

/** The cursor position in a list next to the chain: a time, and a text to distinguish items of the same time. */
export type Mark = readonly [time: string, rest: string]

/** Precedes every item. */
const START: Mark = ['1970-01-01T00:00:00.000Z', '']

/** One page of a list, its end position, and whether more items follow. */
export interface Listed<Item, End> {
  readonly items: readonly Item[]
  readonly end: End
  readonly hasMore: boolean
}

/**
 * Paging of evidence (O-07): the chain and a second list share one cursor, each with at most `limit` items per page. A
 * list that has ended is empty on the following pages.
 */
export function pagingOf({ query, context, ...request }: Omit<EvidenceRequest, 'pause'>) {
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
    /** The members of the response that lead to the next page. */
    after(chain: Listed<unknown, number>, second: Listed<unknown, Mark>) {
      const hasMore = chain.hasMore || second.hasMore
      const place = JSON.stringify([chain.end, ...second.end])
      return {
        next_cursor: hasMore ? makeCursor(context.macKey, name, place) : null,
        has_more: hasMore,
      }
    },
  }
}

export type Paging = ReturnType<typeof pagingOf>

/** The first `limit` items of rows that were queried with `limit + 1`. */
export function listed<Row, Item>(
  rows: readonly Row[],
  { limit, mark }: Paging,
  { item, markOf }: { item: (row: Row) => Item; markOf: (row: Row) => Mark },
): Listed<Item, Mark> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(item), end: last ? markOf(last) : mark, hasMore: rows.length > limit }
}

/** The lists of the response that hold the entries of one page. */
export function entryLists(items: readonly ShownEntry[]) {
  const entries: EvidenceEntry[] = []
  const hidden: HiddenEvidenceEntry[] = []
  for (const item of items) {
    if ('proof' in item) entries.push(item)
    else hidden.push(item)
  }
  return { entries, hidden_entries: hidden }
}

/** One page of the entries of a thread, or of those about one package. */
export async function chainPage(
  queries: Queries,
  { threadId, packageId, organizationId, pause }: EvidenceRequest,
  { position: after, limit }: Paging,
): Promise<Listed<ShownEntry, number>> {
  const isThread = packageId === undefined
  const until = isThread ? after + MAXIMUM_SCANNED : Number.MAX_SAFE_INTEGER
  const shown = { threadId, organizationId, ...(packageId !== undefined && { packageId }) }
  const { entries, isCut } = await entriesAfter(queries, { ...shown, after, until, limit: limit + 1 }, pause)
  const items = entries.slice(0, limit)
  const end = items.at(-1)?.position ?? after
  if (isCut || entries.length > limit) return { items, end, hasMore: true }
  const next = isThread ? await nextRecordAfter(queries, threadId, until) : undefined
  return next === undefined ? { items, end, hasMore: false } : { items, end: next - 1, hasMore: true }
}
