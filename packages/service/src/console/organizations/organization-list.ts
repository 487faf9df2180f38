import { badge, buttonLink, form, html, shortIdentifier, table } from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { createOrganization, readOrganizations } from '../../operator/routes/organizations.ts'
import type { ConsoleCall } from '../console-page.ts'
import { OPTIONAL_REASON, outsideText, pathTo, statusBadge } from '../console-parts.ts'
import { firstSteps, isFirstRun } from '../first-run.ts'
import { organizationLink } from '../organization-names.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

export async function showOrganizations({ api, query, show, now, operator }: ConsoleCall) {
  const after = query.get('after')
  const found = await api(readOrganizations, { input: { after } })
  const { items, next_cursor } = found
  const names = new Map(items.map(({ organization_id, name }) => [organization_id, name]))
  const isFirst = after === undefined && isFirstRun(found)
  const creation =
    hasRole(operator, 'operator') && buttonLink('/organizations/new', 'Create an organization', 'primary')
  const main = html`<p class="lead">Companies whose agents exchange packages here.</p>
    ${isFirst ? firstSteps(operator) : creation && html`<p>${creation}</p>`}
    ${table({
      caption: 'Organizations',
      hidesCaption: true,
      columns: [
        { title: 'Organization' },
        { title: 'Status' },
        { title: 'Contact' },
        { title: 'Created' },
        { title: 'Id' },
      ],
      rows: items.map((organization) => [
        html`${organizationLink(names, organization.organization_id)}
        ${organization.is_platform && badge('neutral', 'this exchange')}`,
        statusBadge(organization.status),
        organization.contact && outsideText(organization.contact),
        timeOf(organization.created_at, now),
        shortIdentifier(organization.organization_id),
      ]),
      paging: pagingLinks('/organizations', {}, { after, next: next_cursor }),
    })}`
  return show({ title: 'Organizations', main })
}

export async function newOrganization({ show, formState }: ConsoleCall) {
  const main = html`<p class="lead">
      First the organization, then an invitation for the developer of its agent.
    </p>
    ${form({
      id: 'organization',
      action: '/organizations',
      ...formState,
      fields: [
        {
          kind: 'text',
          name: 'organization_id',
          label: 'Id',
          isRequired: true,
          maxLength: 132,
          hint: 'org_ and up to 128 letters, digits, "_" or "-". It cannot be changed.',
        },
        { kind: 'text', name: 'name', label: 'Name', isRequired: true, maxLength: 200 },
        {
          kind: 'email',
          name: 'contact',
          label: 'Contact',
          maxLength: 320,
          hint: 'Mail address for alerts about failing webhooks and expiring certificates.',
        },
        OPTIONAL_REASON,
      ],
      submit: { label: 'Create organization' },
      cancel: { href: '/organizations', label: 'Cancel' },
    })}`
  return show({ title: 'Create an organization', main })
}

export async function addOrganization({ api, form: fields, redirect }: ConsoleCall) {
  const input = {
    organization_id: fields.get('organization_id'),
    name: fields.get('name'),
    contact: fields.get('contact'),
    reason: fields.get('reason'),
  }
  const { organization_id: id } = await api(createOrganization, { input })
  return redirect(pathTo('organizations', id), {
    tone: 'good',
    title: `${id} was created.`,
    text: 'Next, create an invitation for the developer of its first agent.',
  })
}
