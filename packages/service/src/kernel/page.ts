import type { DeploymentProfile } from '@agent-exchange/protocol'
import { Problem } from './problem.ts'

/** Open points that set page sizes. */
type PagePoint = 'O-07' | 'O-15' | 'O-40'

/** Number of items in a page. Too large a number is refused with the maximum, never reduced silently. */
export function pageLimit(wanted: number | undefined, profile: DeploymentProfile, point: PagePoint): number {
  const { default_limit, maximum_limit } = profile[point]
  if (wanted === undefined) return default_limit
  if (wanted <= maximum_limit) return wanted
  const message = `Use a number of at most ${maximum_limit}.`
  throw new Problem('validation_failed', {
    failures: [{ pointer: '/limit', rule: point, message }],
    maximum_limit,
  })
}

export interface Page<Item> {
  readonly items: Item[]
  /** Null on the last page. */
  readonly next_cursor: string | null
  readonly has_more: boolean
}

/** Makes a page from up to `limit + 1` rows: the extra row only shows that there is a next page. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { cursorAfter, item }: { cursorAfter: (row: Row) => string; item: (row: Row) => Item },
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return { items: shown.map(item), next_cursor: more ? cursorAfter(last) : null, has_more: more }
}

/**
 * Stored text that one page is made of. Making and sending a page of this size takes a few milliseconds; a larger one ends
 * early, with a cursor to the rest.
 */
export const MAXIMUM_PAGE_CHARACTERS = 262_144
