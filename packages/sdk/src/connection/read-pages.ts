import { ExchangeError } from '../errors.ts'
import { MAXIMUM_PAGES } from './connection-limits.ts'

interface Page {
  readonly next_cursor?: string | null | undefined
  readonly has_more?: boolean
}

/** Whether another page follows. */
export function hasNextPage<P extends Page>(page: P): page is P & { readonly next_cursor: string } {
  const { next_cursor: next, has_more } = page
  return next !== undefined && next !== null && has_more !== false
}

/**
 * Follows cursors to the last page, or ends after `maximumPages`. Fails after MAXIMUM_PAGES or on a repeated cursor.
 */
export async function* readPages<P extends Page>(
  read: (after: string | undefined) => Promise<P>,
  maximumPages = Number.POSITIVE_INFINITY,
): AsyncGenerator<P> {
  const seen = new Set<string>()
  let after: string | undefined
  for (let pages = 1; pages <= MAXIMUM_PAGES; pages++) {
    const page = await read(after)
    yield page
    if (!hasNextPage(page) || pages >= maximumPages) return
    const { next_cursor: next } = page
    if (seen.has(next))
      throw new ExchangeError('exchange_answer_unreadable', {
        what: 'Pagination does not end: a cursor was returned twice.',
      })
    seen.add(next)
    after = next
  }
  throw new ExchangeError('exchange_answer_unreadable', {
    what: `There are more than ${MAXIMUM_PAGES} pages.`,
  })
}
