import { html, type Html } from '@agent-exchange/web'
import { MAXIMUM_WAITING_ROWS, SHOWN_WAITING } from './desk-limits.ts'
import { TEXTS } from './texts/story-texts.ts'

/** How much of the lists the address asks for. */
export interface ShownRows {
  readonly isAll: boolean
}

/** A list of the first page, cut, with how many more there are; nothing for an empty one. */
export function cutList<Item>(
  heading: string,
  items: readonly Item[],
  { isAll }: ShownRows,
  render: (items: readonly Item[]) => Html,
): Html | undefined {
  if (items.length === 0) return undefined
  const shown = items.slice(0, isAll ? MAXIMUM_WAITING_ROWS : SHOWN_WAITING)
  const more = items.length - shown.length
  return html`<h3>${heading}</h3>
    ${render(shown)}
    ${more > 0 && html`<p class="quiet">${isAll ? TEXTS.moreRows(more) : html`<a href="/?all=1">${TEXTS.moreRows(more)}</a>`}</p>`}`
}
