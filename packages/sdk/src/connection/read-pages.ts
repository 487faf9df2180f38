import { ExchangeError } from '../errors.ts'
import { MAXIMUM_PAGES } from './connection-limits.ts'

interface Page {
  readonly next_cursor?: string | null | undefined
  readonly has_more?: boolean
}

/** Follows cursors to the last page. Fails after a maximum number of pages or on a repeated cursor. */
export async function* readPages<P extends Page>(
  read: (after: string | undefined) => Promise<P>,
): AsyncGenerator<P> {
  const seen = new Set<string>()
  let after: string | undefined
  for (let pages = 0; pages < MAXIMUM_PAGES; pages++) {
    const page = await read(after)
    yield page
    const { next_cursor: next } = page
    if (next === undefined || next === null || page.has_more === false) return
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
