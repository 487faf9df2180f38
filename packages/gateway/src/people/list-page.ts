import { MAXIMUM_LISTED } from './people-limits.ts'

/** Which page of a list: at most `limit` rows, those that follow the row with the id `after`. */
export interface PageRequest {
  readonly after?: string | undefined
  readonly limit?: number
}

/** One page of a list. `next` is what to ask for as `after`; undefined on the last page. */
export interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly next?: string
}

/** The rows to read: one more than the page shows says whether another page follows. */
export const rowsToRead = ({ limit = MAXIMUM_LISTED }: PageRequest): number => shownRows(limit) + 1

export function pageOf<Row>(
  read: readonly Row[],
  { limit = MAXIMUM_LISTED }: PageRequest,
  idOf: (row: Row) => string,
): ListPage<Row> {
  const rows = read.slice(0, shownRows(limit))
  const last = rows.at(-1)
  return read.length > rows.length && last !== undefined ? { rows, next: idOf(last) } : { rows }
}

const shownRows = (limit: number) => Math.min(limit, MAXIMUM_LISTED)
