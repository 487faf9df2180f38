import { exactTime, filterForm, html, shortId, table, visible } from '@agent-exchange/web'
import { readOperatorLog } from '../../operator/routes/log.ts'
import { get, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { addressOf, pagingLinks } from '../paging.ts'

const FILTERS = [
  ['actor', 'Actor'],
  ['action', 'Action'],
  ['target', 'Target'],
] as const

const PAGE_ROWS = 50

export const operatorLogPages: readonly ConsolePage[] = [get('/operator-log', list)]

async function list({ api, query, show }: ConsoleCall) {
  const after = query.get('after')
  const filters = Object.fromEntries(FILTERS.map(([name]) => [name, query.get(name)]))
  const log = await api(readOperatorLog, { input: { ...filters, after, limit: PAGE_ROWS } })
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const main = html`<p class="lead">
      Every change by an operator: who, what and why. Entries are never changed or deleted.
    </p>
    ${filterForm({
      id: 'filter',
      action: '/operator-log',
      fields: FILTERS.map(([name, label]) => ({ kind: 'search', name, label, value: filters[name] ?? '' })),
      submitLabel: 'Filter',
    })}
    ${table({
      caption: 'Entries',
      hidesCaption: true,
      columns: [
        { title: 'Time' },
        { title: 'Actor' },
        { title: 'Action' },
        { title: 'Target' },
        { title: 'Reason' },
        { title: 'Details' },
        { title: 'Entry', isNumeric: true },
      ],
      rows: log.items.map((entry) => [
        exactTime(new Date(entry.recorded_at)),
        html`<a href="/operator-log?actor=${entry.actor}"><bdi>${visible(entry.actor)}</bdi></a>`,
        html`<a href="/operator-log?action=${entry.action}">${entry.action}</a>`,
        shortId(entry.target, addressOf('/operator-log', { target: entry.target })),
        entry.reason && html`<bdi>${visible(entry.reason)}</bdi>`,
        detailsOf(entry.details),
        entry.entry,
      ]),
      empty: isFiltered
        ? { title: 'No such entries', text: 'Filters match exactly. Clear them to see all entries.' }
        : { title: 'No entries', text: 'The first change by an operator appears here.' },
      paging: pagingLinks('/operator-log', filters, { after, next: log.next_cursor }),
    })}`
  return show({ title: 'Operator log', main })
}

function detailsOf(details: object) {
  const members = Object.entries(details)
  if (members.length === 0) return undefined
  return html`<details>
    <summary>Show</summary>
    <pre>${JSON.stringify(details, undefined, 2)}</pre>
  </details>`
}
