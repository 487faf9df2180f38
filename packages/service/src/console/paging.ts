import type { Paging } from '@agent-exchange/web'

/** Links of a paged list: its filters stay, the cursor changes. */
export function pagingLinks(
  path: string,
  filters: Readonly<Record<string, string | undefined>>,
  { after, next }: { readonly after: string | undefined; readonly next: string | undefined | null },
): Paging {
  return {
    ...(after !== undefined && { first: addressOf(path, filters) }),
    ...(next && { next: addressOf(path, { ...filters, after: next }) }),
  }
}

export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length > 0 ? `${path}?${new URLSearchParams(given).toString()}` : path
}
