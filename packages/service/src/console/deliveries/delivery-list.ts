import {
  buttonLink,
  filterForm,
  html,
  identifier,
  relativeTime,
  table,
  visible,
  type Html,
} from '@agent-exchange/web'
import { listDeliveriesRoute } from '../../operator/routes/deliveries.ts'
import type { ConsoleCall, PageAnswer, WatchCall } from '../console-page.ts'
import { choiceField, idField } from '../form-fields.ts'
import { deliveryPath, endpointPath, organizationPath } from '../links.ts'
import { addressOf, pagingLinks } from '../paging.ts'
import { periodField, sinceOf } from '../period-filter.ts'
import { deliveryBadge, shownState } from '../state-badges.ts'

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
  const { query, show, now, live } = call
  const filter = filterOf(call)
  const after = query.get('after')
  const { items, next_cursor } = await listed(call)
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
    main: html`${form} ${live(items, deliveryTable(items, now, paging))}
      <p>${buttonLink(replay, 'Replay failed deliveries…')}</p>`,
  })
}

function deliveryTable(
  items: readonly ListedDelivery[],
  now: Date,
  paging: { readonly first?: string; readonly next?: string },
): Html {
  return table({
    caption: 'Deliveries',
    hidesCaption: true,
    columns: [
      { title: 'Delivery' },
      { title: 'State and last error' },
      { title: 'Attempts', isNumeric: true },
      { title: 'Created' },
      { title: 'Next attempt' },
      { title: 'Organization and endpoint' },
    ],
    rows: items.map((item) => deliveryRow(item, now)),
    empty: {
      title: 'No deliveries',
      text: html`Nothing matches. A delivery exists where an <a href="/endpoints">endpoint</a> wants the
        event; without one, an agent reads its events from its stream.`,
    },
    paging,
  })
}

function deliveryRow(item: ListedDelivery, now: Date) {
  const { organization_id: owner, webhook_endpoint_id: endpoint, next_attempt_at: next } = item
  return [
    identifier(item.delivery_id, deliveryPath(item.delivery_id)),
    html`${deliveryBadge(shownState(item.state, item.last_error !== undefined))}
    ${item.last_error !== undefined && html`<br /><span class="quiet">${visible(item.last_error)}</span>`}`,
    String(item.attempt),
    relativeTime(new Date(item.created_at), now),
    next === undefined ? '–' : relativeTime(new Date(next), now),
    html`<a href="${organizationPath(owner)}"><bdi>${visible(owner)}</bdi></a
      ><br /><a class="quiet" href="${endpointPath(endpoint)}"><bdi>${visible(endpoint)}</bdi></a>`,
  ]
}
