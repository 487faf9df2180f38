import type { HostCall } from '@agent-exchange/desk'
import type { Paging } from '@agent-exchange/web'
import type { ListPage, PageRequest } from '../people/list-page.ts'
import { ROWS_OF_PAGE } from './desk-limits.ts'

/** Ids of people, sessions and entries. Anything else asks for the first page. */
const CURSOR = /^[\w-]{1,100}$/u

/** The page of a list that the address asks for. */
export function askedPage({ query }: HostCall): PageRequest {
  const after = query.get('after') ?? ''
  return { limit: ROWS_OF_PAGE, ...(CURSOR.test(after) && { after }) }
}

/** Links to the first and to the next page. */
export function pagingOf(path: string, call: HostCall, { next }: ListPage<unknown>): Paging {
  return {
    ...(askedPage(call).after !== undefined && { first: path }),
    ...(next !== undefined && { next: `${path}?after=${next}` }),
  }
}
