import { attributes, html, type Html, type Part } from '../template/html.ts'
import { emptyState, type EmptyState } from './empty-state.ts'
import { pagingNavigation, type Paging } from './paging.ts'

export interface Column {
  readonly title: string
  readonly isNumeric?: boolean
  /** The link that sorts by this column, and how the table is sorted by it now. */
  readonly sort?: { readonly href: string; readonly direction?: 'ascending' | 'descending' }
}

export interface Table {
  readonly caption: string
  /** For a table right under a heading that says the same: the caption is for screen readers alone. */
  readonly hidesCaption?: boolean
  readonly columns: readonly Column[]
  /** One cell for each column. The first names the row. */
  readonly rows: readonly (readonly Part[])[]
  /** Instead of a table without rows. */
  readonly empty?: EmptyState
  readonly paging?: Paging
}

/** Most rows of one page. More is a mistake of the caller, who has to page. */
export const MAXIMUM_TABLE_ROWS = 1_000

/**
 * On a narrow screen each row becomes a card, with the titles of columns from `data-label`. The roles keep the table
 * a table for screen readers then: browsers drop them where CSS changes `display`.
 */
export function table({ caption, hidesCaption, columns, rows, empty, paging }: Table): Html {
  if (rows.length > MAXIMUM_TABLE_ROWS) throw new RangeError(`a table has at most ${MAXIMUM_TABLE_ROWS} rows`)
  if (rows.length === 0 && empty) return html`${emptyState(empty)}${pagingNavigation(caption, paging)}`
  return html`<table role="table">
      <caption>
        <span ${attributes({ class: hidesCaption && 'unseen' })}>${caption}</span>
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map(columnHeading)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((cells) => rowOf(columns, cells))}
      </tbody>
    </table>
    ${pagingNavigation(caption, paging)}`
}

const ARROWS = { ascending: '▲', descending: '▼' }

function columnHeading({ title, isNumeric, sort }: Column): Html {
  const options = {
    role: 'columnheader',
    scope: 'col',
    class: isNumeric && 'numeric',
    'aria-sort': sort?.direction,
  }
  const arrow = sort?.direction && html` <span aria-hidden="true">${ARROWS[sort.direction]}</span>`
  return html`<th ${attributes(options)}>
    ${sort ? html`<a href="${sort.href}">${title}${arrow}</a>` : title}
  </th>`
}

function rowOf(columns: readonly Column[], cells: readonly Part[]): Html {
  if (cells.length !== columns.length) throw new RangeError('a row has one cell for each column')
  return html`<tr role="row">
    ${columns.map(({ title, isNumeric }, index) => {
      const options = { class: isNumeric && 'numeric', 'data-label': title }
      // The element around the content keeps it one item of the card's grid.
      const inside = html`<div>${cells[index]}</div>`
      return index === 0
        ? html`<th ${attributes({ role: 'rowheader', scope: 'row', ...options })}>${inside}</th>`
        : html`<td ${attributes({ role: 'cell', ...options })}>${inside}</td>`
    })}
  </tr>`
}
