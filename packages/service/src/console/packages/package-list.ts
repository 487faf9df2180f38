import { PACKAGE_STATES } from '@agent-exchange/protocol'
import {
  filterForm,
  html,
  identifier,
  relativeTime,
  table,
  visible,
  type Html,
  type Part,
} from '@agent-exchange/web'
import { listPackagesRoute } from '../../operator/routes/packages.ts'
import type { ConsoleCall, PageAnswer, WatchCall } from '../console-page.ts'
import { choiceField, idField } from '../form-fields.ts'
import { agentPath, organizationPath, packagePath, threadPath } from '../links.ts'
import { pagingLinks } from '../paging.ts'
import { periodField, sinceOf } from '../period-filter.ts'
import { packageBadge } from '../state-badges.ts'

export type ListedPackage = Awaited<ReturnType<typeof listPackagesRoute.run>>['items'][number]

const ROWS_PER_PAGE = 25

function filterOf(call: WatchCall) {
  const { query } = call
  return {
    organization_id: query.get('organization_id'),
    agent_id: query.get('agent_id'),
    state: query.get('state'),
    since: sinceOf(call),
  }
}

function listed(call: WatchCall) {
  const { api, query } = call
  return api(listPackagesRoute, {
    input: { ...filterOf(call), after: query.get('after'), limit: ROWS_PER_PAGE },
  })
}

/** Without the cursor: that of a period changes as time passes. */
export async function watchPackages(call: WatchCall): Promise<object> {
  return (await listed(call)).items
}

export async function showPackages(call: ConsoleCall): Promise<PageAnswer> {
  const { query, show, now, live } = call
  const filter = filterOf(call)
  const after = query.get('after')
  const { items, next_cursor } = await listed(call)
  const form = filterForm({
    id: 'filter',
    action: '/packages',
    fields: [
      choiceField({ name: 'state', label: 'State', any: 'any state' }, PACKAGE_STATES, filter.state),
      periodField(call),
      idField('organization_id', 'Organization id', filter.organization_id),
      idField('agent_id', 'Agent id', filter.agent_id),
    ],
    submitLabel: 'Filter',
  })
  const filters = { ...filter, period: query.get('period') }
  const paging = pagingLinks('/packages', filters, { after, next: next_cursor })
  return show({
    title: 'Packages',
    main: html`${form}${live(items, packageTable(items, now, paging, next_cursor !== null))}`,
  })
}

function packageTable(
  items: readonly ListedPackage[],
  now: Date,
  paging: { readonly first?: string; readonly next?: string },
  hasMore: boolean,
): Html {
  return table({
    caption: 'Packages',
    hidesCaption: true,
    columns: [
      { title: 'Package' },
      { title: 'State' },
      { title: 'From' },
      { title: 'To' },
      { title: 'Accepted' },
      { title: 'Thread' },
    ],
    rows: items.map((item) => packageRow(item, now)),
    empty: hasMore
      ? {
          title: 'None in this part of the list',
          text: 'The filter matches rarely. The next page continues the search.',
        }
      : {
          title: 'No packages',
          text: html`Nothing matches. Widen the filter, or find one by its id with
            <a href="/search">Search</a>: the list reaches back as far as notifications are kept.`,
        },
    paging,
  })
}

export function packageRow(item: ListedPackage, now: Date): readonly Part[] {
  return [
    identifier(item.package_id, packagePath(item.package_id)),
    packageBadge(item.state),
    party(item.sender_org_id, item.sender_agent_id),
    party(item.recipient_org_id, item.recipient_agent_id),
    relativeTime(new Date(item.accepted_at), now),
    html`<a href="${threadPath(item.thread_id)}"><bdi class="id">${visible(item.thread_id)}</bdi></a>`,
  ]
}

export function party(organizationId: string, agentId: string): Html {
  return html`<a href="${organizationPath(organizationId)}"><bdi>${visible(organizationId)}</bdi></a
    ><br /><a class="quiet" href="${agentPath(agentId)}"><bdi>${visible(agentId)}</bdi></a>`
}
