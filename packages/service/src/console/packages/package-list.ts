import { PACKAGE_STATES } from '@agent-exchange/protocol'
import { filterForm, html, shortIdentifier, table, type Html, type Paging } from '@agent-exchange/web'
import { listPackagesRoute } from '../../operator/routes/packages.ts'
import type { ConsoleCall, PageAnswer, WatchCall } from '../console-page.ts'
import { choiceField, idField } from '../form-fields.ts'
import { packagePath, threadPath } from '../links.ts'
import { namesOf, party, type Names } from '../organization-names.ts'
import { pagingLinks } from '../paging.ts'
import { periodField, sinceOf } from '../period-filter.ts'
import { packageBadge } from '../state-badges.ts'
import { timeOf } from '../time.ts'

type ListedPackage = Awaited<ReturnType<typeof listPackagesRoute.run>>['items'][number]

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
  const { api, query, show, now, live } = call
  const filter = filterOf(call)
  const after = query.get('after')
  const { items, next_cursor } = await listed(call)
  const names = await namesOf(
    api,
    items.flatMap((item) => [item.sender_org_id, item.recipient_org_id]),
  )
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
  const content = packageTable(items, { names, now, paging, hasMore: next_cursor !== null })
  return show({ title: 'Packages', main: html`${form}${live(items, content)}` })
}

interface TableParts {
  readonly names: Names
  readonly now: Date
  readonly paging: Paging
  readonly hasMore: boolean
}

function packageTable(items: readonly ListedPackage[], { names, now, paging, hasMore }: TableParts): Html {
  return table({
    caption: 'Packages',
    hidesCaption: true,
    columns: ['From', 'To', 'State', 'Accepted', 'Package', 'Thread'].map((title) => ({ title })),
    rows: items.map((item) => [
      party(names, item.sender_org_id, item.sender_agent_id),
      party(names, item.recipient_org_id, item.recipient_agent_id),
      packageBadge(item.state),
      timeOf(item.accepted_at, now),
      shortIdentifier(item.package_id, packagePath(item.package_id)),
      shortIdentifier(item.thread_id, threadPath(item.thread_id)),
    ]),
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
