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
  readonly now: string
  readonly context: Context
}

export interface EvidencePage {
  readonly generated_at: string
  readonly entries: EvidenceEntry[]
  readonly next_cursor: string | null
  readonly has_more: boolean
}

/** One page of evidence (O-07), of a thread or of one package in it. */
export async function evidencePage(queries: Queries, request: EvidenceRequest): Promise<EvidencePage> {
  const { threadId, packageId, organizationId, query, context } = request
  const limit = pageLimit(query.limit, context.profile['O-07'])
  const listing = ['evidence', organizationId, threadId, packageId ?? ''].join(' ')
  const after = query.after === undefined ? 0 : Number(readCursor(context.cursorSecret, listing, query.after))
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
  const shown = entries.slice(0, limit)
  const isFull = entries.length > limit
  const next = !isFull && isThread ? await nextRecordAfter(queries, threadId, until) : undefined
  const end = isFull ? shown.at(-1)?.position : next && next - 1
  return {
    generated_at: request.now,
    entries: shown,
    next_cursor: end === undefined ? null : makeCursor(context.cursorSecret, listing, end),
    has_more: end !== undefined,
  }
}
