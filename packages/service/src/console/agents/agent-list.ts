import { filterForm, html, shortIdentifier, table } from '@agent-exchange/web'
import { readAgents } from '../../operator/routes/agents.ts'
import type { ConsoleCall } from '../console-page.ts'
import { outsideText, pathTo, statusBadge } from '../console-parts.ts'
import { namesOf, organizationLink } from '../organization-names.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

export async function showAgents({ api, query, show, now }: ConsoleCall) {
  const [after, organization_id] = [query.get('after'), query.get('organization_id')]
  const { items, next_cursor } = await api(readAgents, { input: { after, organization_id } })
  const names = await namesOf(
    api,
    items.map((agent) => agent.organization_id),
  )
  const main = html`${filterForm({
    id: 'filter',
    action: '/agents',
    fields: [
      { kind: 'search', name: 'organization_id', label: 'Organization', value: organization_id ?? '' },
    ],
    submitLabel: 'Filter',
  })}
  ${table({
    caption: 'Agents',
    hidesCaption: true,
    columns: [
      { title: 'Organization' },
      { title: 'Agent' },
      { title: 'Status' },
      { title: 'Certification' },
      { title: 'Software' },
      { title: 'Registered' },
    ],
    rows: items.map((agent) => [
      organizationLink(names, agent.organization_id),
      shortIdentifier(agent.agent_id, pathTo('agents', agent.agent_id)),
      statusBadge(agent.status),
      statusBadge(agent.certification_status),
      outsideText(`${agent.implementation} ${agent.implementation_version}`),
      timeOf(agent.registered_at, now),
    ]),
    empty: { title: 'No agents', text: 'An agent appears here when it has joined by an invitation.' },
    paging: pagingLinks('/agents', { organization_id }, { after, next: next_cursor }),
  })}`
  return show({ title: 'Agents', main })
}
