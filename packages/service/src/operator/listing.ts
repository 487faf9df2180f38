import { Type } from 'typebox'
import { makeCursor, readCursor } from '../kernel/cursor.ts'
import { pageLimit, toPage, type Page } from '../kernel/page.ts'
import { input, text, type OperatorCall } from './route.ts'

const MAXIMUM_CURSOR_CHARACTERS = 4_096
export const MAXIMUM_FILTER_CHARACTERS = 1_024

export const filter = Type.Optional(text(MAXIMUM_FILTER_CHARACTERS))

/** Query parameters of every list. */
export const pageFields = {
  after: Type.Optional(text(MAXIMUM_CURSOR_CHARACTERS)),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
}
export const page = input(pageFields)

interface PageInput {
  readonly after?: string
  readonly limit?: number
}

interface Listing<Row> {
  /** The list and its filters; a cursor is valid only for both. */
  readonly name: readonly (string | undefined)[]
  readonly rows: (after: string | undefined, limit: number) => Promise<readonly Row[]>
  readonly position: (row: Row) => string | number
}

/** One page of a list, within the limits of O-15. */
export async function listPage<Row, Item>(
  { input: { after, limit: requested }, context }: OperatorCall<PageInput>,
  { name, rows, position }: Listing<Row>,
  item: (row: Row) => Item,
): Promise<Page<Item>> {
  const { macKey, profile } = context
  const limit = pageLimit(requested, profile, 'O-15')
  const listing = JSON.stringify(['operator', ...name])
  const start = after === undefined ? undefined : readCursor(macKey, listing, after)
  return toPage(await rows(start, limit + 1), limit, {
    cursorAfter: (row) => makeCursor(macKey, listing, position(row)),
    item,
  })
}
