import { filterForm, html, named, shortIdentifier, table, visible } from '@agent-exchange/web'
import { listEndpointsRoute } from '../../operator/routes/endpoints.ts'
import type { ConsoleCall, PageAnswer } from '../console-page.ts'
import { choiceField, idField } from '../form-fields.ts'
import { endpointPath } from '../links.ts'
import { namesOf, organizationLink } from '../organization-names.ts'
import { pagingLinks } from '../paging.ts'
import { endpointBadge, endpointState } from '../state-badges.ts'
import { timeOf } from '../time.ts'

const ROWS_PER_PAGE = 25

export async function showEndpoints({ query, api, show, now }: ConsoleCall): Promise<PageAnswer> {
  const filter = { status: query.get('status'), organization_id: query.get('organization_id') }
  const after = query.get('after')
  const { items, next_cursor } = await api(listEndpointsRoute, {
    input: { ...filter, after, limit: ROWS_PER_PAGE },
  })
  const names = await namesOf(
    api,
    items.map(({ organization_id }) => organization_id),
  )
  const form = filterForm({
    id: 'filter',
    action: '/endpoints',
    fields: [
      choiceField(
        { name: 'status', label: 'Status', any: 'any status' },
        ['active', 'disabled', 'deleted'],
        filter.status,
      ),
      idField('organization_id', 'Organization id', filter.organization_id),
    ],
    submitLabel: 'Filter',
  })
  const endpoints = table({
    caption: 'Endpoints',
    hidesCaption: true,
    columns: [
      { title: 'Organization' },
      { title: 'URL' },
      { title: 'Status and last error' },
      { title: 'Last change' },
      { title: 'Endpoint' },
    ],
    rows: items.map(({ webhook_endpoint_id: id, organization_id: owner, ...endpoint }) => [
      organizationLink(names, owner),
      named({ name: endpoint.url, id, href: endpointPath(id) }),
      html`${endpointBadge(endpointState(endpoint.status, endpoint.failing_since))}
      ${
        reasonOf(endpoint) !== null &&
        html`<span class="below"><bdi>${visible(reasonOf(endpoint) ?? '')}</bdi></span>`
      }`,
      timeOf(endpoint.updated_at, now),
      shortIdentifier(id, endpointPath(id)),
    ]),
    empty: {
      title: 'No endpoints',
      text: 'Agents register endpoints themselves: POST /v1/webhook-endpoints, or aex agent listen. Until then they poll their stream.',
    },
    paging: pagingLinks('/endpoints', filter, { after, next: next_cursor }),
  })
  return show({ title: 'Webhook endpoints', main: html`${form}${endpoints}` })
}

/** Why it is disabled, or the result of its last attempt if that failed. */
function reasonOf({
  status_reason,
  last_error,
}: {
  readonly status_reason: string | null
  readonly last_error: string | null
}): string | null {
  return status_reason ?? last_error
}
