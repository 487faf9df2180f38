import { html, type Html } from '../template/html.ts'

/** Links by cursor, in both directions where there are such pages. */
export interface Paging {
  readonly first?: string
  readonly next?: string
}

export function pagingNavigation(caption: string, paging: Paging | undefined): Html | undefined {
  if (!paging?.first && !paging?.next) return undefined
  return html`<nav class="paging" aria-label="Pages of ${caption}">
    ${paging.first && html`<a href="${paging.first}">First page</a>`}
    ${paging.next && html`<a class="button" href="${paging.next}" rel="next">Next page</a>`}
  </nav>`
}
