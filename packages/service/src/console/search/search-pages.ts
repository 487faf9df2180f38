import {
  emptyState,
  filterForm,
  html,
  shortIdentifier,
  table,
  type Html,
  type Part,
} from '@agent-exchange/web'
import { searchRoute } from '../../operator/routes/search.ts'
import { get, type ConsolePage } from '../console-page.ts'
import { agentPath, deliveryPath, endpointPath, organizationPath, packagePath, threadPath } from '../links.ts'
import { namesOf, organizationLink, type Names } from '../organization-names.ts'

type Found = Awaited<ReturnType<typeof searchRoute.run>>['items'][number]

/** Kinds that have a page of their own. */
const PATHS: Partial<Record<Found['kind'], (id: string) => string>> = {
  package: packagePath,
  thread: threadPath,
  delivery: deliveryPath,
  webhook_endpoint: endpointPath,
  organization: organizationPath,
  agent: agentPath,
}

export const searchPages: readonly ConsolePage[] = [
  get('/search', async ({ query, api, show, redirect }) => {
    const id = query.get('id')
    const items = id === undefined ? [] : (await api(searchRoute, { input: { id } })).items
    const [only, ...others] = items
    const path = only && others.length === 0 ? PATHS[only.kind] : undefined
    if (only && path) return redirect(path(only.id))
    const names = await namesOf(
      api,
      items.flatMap(({ organization_id }) => organization_id ?? []),
    )
    return show({
      title: 'Search',
      main: html`${searchForm(id)}${id !== undefined && results(id, items, names)}`,
    })
  }),
]

function searchForm(id: string | undefined): Html {
  const form = filterForm({
    id: 'search',
    action: '/search',
    fields: [
      {
        kind: 'search',
        name: 'id',
        label: 'Id',
        isRequired: true,
        maxLength: 1_024,
        ...(id !== undefined && { value: id }),
      },
    ],
    submitLabel: 'Find',
  })
  return html`<p>
      Enter the whole id of a package, thread, receipt, event, notification, delivery, endpoint, agent,
      organization or client, or the correlation id of a submitted package.
    </p>
    ${form}`
}

function results(id: string, items: readonly Found[], names: Names): Html {
  if (items.length === 0)
    return emptyState({
      title: 'Nothing has this id',
      text: html`Ids are searched as a whole. A correlation id is found if it submitted a package. You can
        also look through <a href="/packages">packages</a> or <a href="/deliveries">deliveries</a>.`,
    })
  return table({
    caption: `What has the id ${id}`,
    hidesCaption: true,
    columns: [
      { title: 'Kind' },
      { title: 'Organization' },
      { title: 'Package' },
      { title: 'Thread' },
      { title: 'Id' },
    ],
    rows: items.map((item) => [
      item.kind.replaceAll('_', ' '),
      item.organization_id === null ? '–' : organizationLink(names, item.organization_id),
      linked(item.package_id, packagePath),
      linked(item.thread_id, threadPath),
      shortIdentifier(item.id, PATHS[item.kind]?.(item.id)),
    ]),
  })
}

function linked(id: string | null, path: (id: string) => string): Part {
  return id === null ? '–' : shortIdentifier(id, path(id))
}
