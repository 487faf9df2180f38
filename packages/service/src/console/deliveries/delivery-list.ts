import {
  buttonLink,
  filterForm,
  html,
  named,
  shortIdentifier,
  table,
  visible,
  type Html,
  type Paging,
} from '@agent-exchange/web'
import { listDeliveriesRoute } from '../../operator/routes/deliveries.ts'
import type { ConsoleCall, PageAnswer, WatchCall } from '../console-page.ts'
import { choiceField, idField } from '../form-fields.ts'
import { deliveryPath, endpointPath, packagePath } from '../links.ts'
import { namesOf, organizationLink, type Names } from '../organization-names.ts'
import { addressOf, pagingLinks } from '../paging.ts'
import { periodField, sinceOf } from '../period-filter.ts'
import { deliveryBadge, shownState } from '../state-badges.ts'
import { timeOf } from '../time.ts'

type ListedDelivery = Awaited<ReturnType<typeof listDeliveriesRoute.run>>['items'][number]

const ROWS_PER_PAGE = 25
const STATES = ['dead', 'failed', 'pending', 'delivered']

function filterOf(call: WatchCall) {
  const { query } = call
  return {
    state: query.get('state'),
    organization_id: query.get('organization_id'),
    webhook_endpoint_id: query.get('webhook_endpoint_id'),
    since: sinceOf(call),
  }
}

function listed(call: WatchCall) {
  const { api, query } = call
  return api(listDeliveriesRoute, {
    input: { ...filterOf(call), after: query.get('after'), limit: ROWS_PER_PAGE },
  })
}

/** Without the cursor: that of a period changes as time passes. */
export async function watchDeliveries(call: WatchCall): Promise<object> {
  return (await listed(call)).items
}

export async function showDeliveries(call: ConsoleCall): Promise<PageAnswer> {
  const { api, query, show, now, live } = call
  const filter = filterOf(call)
  const after = query.get('after')
  const { items, next_cursor } = await listed(call)
  const names = await namesOf(
    api,
    items.map(({ organization_id }) => organization_id),
  )
  const form = filterForm({
    id: 'filter',
    action: '/deliveries',
    fields: [
      choiceField({ name: 'state', label: 'State', any: 'any state' }, STATES, filter.state),
      periodField(call),
      idField('organization_id', 'Organization id', filter.organization_id),
      idField('webhook_endpoint_id', 'Endpoint id', filter.webhook_endpoint_id),
    ],
    submitLabel: 'Filter',
  })
  const replay = addressOf('/replay', {
    organization_id: filter.organization_id,
    webhook_endpoint_id: filter.webhook_endpoint_id,
    state: filter.state === 'dead' || filter.state === 'failed' ? filter.state : undefined,
    since: filter.since,
  })
  const paging = pagingLinks(
    '/deliveries',
    { ...filter, period: query.get('period') },
    { after, next: next_cursor },
  )
  return show({
    title: 'Deliveries',
    main: html`${form} ${live(items, deliveryTable(items, { names, now, paging }))}
      <p>${buttonLink(replay, 'Replay failed deliveries…')}</p>`,
  })
}

interface TableParts {
  readonly names: Names
  readonly now: Date
  readonly paging: Paging
}

function deliveryTable(items: readonly ListedDelivery[], { names, now, paging }: TableParts): Html {
  return table({
    caption: 'Deliveries',
    hidesCaption: true,
    columns: [
      { title: 'Event and package' },
      { title: 'To' },
      { title: 'State and last error' },
      { title: 'Attempts', isNumeric: true },
      { title: 'Created' },
      { title: 'Next attempt' },
      { title: 'Delivery' },
    ],
    rows: items.map((item) => deliveryRow(item, names, now)),
    empty: {
      title: 'No deliveries',
      text: html`Nothing matches. A delivery exists where an <a href="/endpoints">endpoint</a> wants the
        event; without one, an agent reads its events from its stream.`,
    },
    paging,
  })
}

function deliveryRow(item: ListedDelivery, names: Names, now: Date) {
  const { package_id: packageId, last_error: error, next_attempt_at: next } = item
  return [
    html`${visible(item.event_type ?? 'event')}
      <span class="below">${shortIdentifier(packageId, packagePath(packageId))}</span>`,
    organizationLink(names, item.organization_id, endpointLink(item)),
    html`${deliveryBadge(shownState(item.state, error !== undefined))}
    ${error !== undefined && html`<span class="below">${visible(error)}</span>`}`,
    String(item.attempt),
    timeOf(item.created_at, now),
    next === undefined ? '–' : timeOf(next, now),
    shortIdentifier(item.delivery_id, deliveryPath(item.delivery_id)),
  ]
}

/** By its URL, which people know. */
function endpointLink({ webhook_endpoint_id: id, endpoint_url: url }: ListedDelivery): Html {
  return named({ name: url?.replace(/^https:\/\//u, '') ?? id, id, href: endpointPath(id) })
}
