import {
  buttonLink,
  confirmation,
  definitionList,
  filterForm,
  form,
  html,
  exactTime,
  identifier,
  notice,
  shortIdentifier,
  table,
  visible,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import {
  createOneInvitation,
  readInvitation,
  readInvitations,
  revokeInvitation,
} from '../../operator/routes/invitations.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { commandLine, OPTIONAL_REASON, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { nameOf, namesOf, organizationLink } from '../organization-names.ts'
import { addressOf, pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'
import { invitedAgent } from './invited-agent.ts'

const LIFETIMES = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

export const invitationsPages: readonly ConsolePage[] = [
  get('/invitations', list),
  get('/invitations/new', newInvitation, 'operator'),
  post('/invitations', create),
  get('/invitations/:invitation_id', showOne),
  post('/invitations/:invitation_id/revoke', revoke),
]

async function list({ api, query, show, now, operator }: ConsoleCall) {
  const [after, organization_id] = [query.get('after'), query.get('organization_id')]
  const { items, next_cursor } = await api(readInvitations, { input: { after, organization_id } })
  const names = await namesOf(
    api,
    items.map((row) => row.organization_id),
  )
  const creation =
    hasRole(operator, 'operator') &&
    buttonLink(addressOf('/invitations/new', { organization_id }), 'Create an invitation', 'primary')
  const main = html`<p class="lead">
      An invitation lets one agent join: its developer runs one command, and client and agent are registered.
    </p>
    ${creation && html`<p>${creation}</p>`}
    ${filterForm({
      id: 'filter',
      action: '/invitations',
      fields: [
        { kind: 'search', name: 'organization_id', label: 'Organization', value: organization_id ?? '' },
      ],
      submitLabel: 'Filter',
    })}
    ${table({
      caption: 'Invitations',
      hidesCaption: true,
      columns: [
        { title: 'Organization' },
        { title: 'Agent' },
        { title: 'State' },
        { title: 'Created by' },
        { title: 'Created' },
        { title: 'Expires' },
        { title: 'Used' },
        { title: 'Invitation' },
      ],
      rows: items.map((row) => [
        organizationLink(names, row.organization_id),
        invitedAgent(row),
        statusBadge(row.state),
        row.created_by,
        timeOf(row.created_at, now),
        timeOf(row.expires_at, now),
        row.used_at && timeOf(row.used_at, now),
        shortIdentifier(row.invitation_id, pathTo('invitations', row.invitation_id)),
      ]),
      empty: {
        title: 'No invitations',
        text: 'Create an organization, then invite its agent.',
        ...(creation && { action: creation }),
      },
      paging: pagingLinks('/invitations', { organization_id }, { after, next: next_cursor }),
    })}`
  return show({ title: 'Invitations', main })
}

async function newInvitation({ query, show, formState }: ConsoleCall) {
  const organization = query.get('organization_id')
  const main = form({
    id: 'invitation',
    action: '/invitations',
    ...formState,
    fields: [
      {
        kind: 'text',
        name: 'organization_id',
        label: 'Organization',
        isRequired: true,
        maxLength: 132,
        value: organization ?? '',
      },
      {
        kind: 'text',
        name: 'agent_id',
        label: 'Agent',
        maxLength: 134,
        value: query.get('agent_id') ?? '',
        hint: 'The only agent that may join. Empty: one new agent, whose id its developer chooses.',
      },
      {
        kind: 'select',
        name: 'lifetime',
        label: 'Valid for',
        isRequired: true,
        value: '86400',
        options: LIFETIMES,
      },
      OPTIONAL_REASON,
    ],
    submit: { label: 'Create invitation' },
    cancel: {
      href: organization === undefined ? '/invitations' : pathTo('organizations', organization),
      label: 'Cancel',
    },
  })
  return show({ title: 'Create an invitation', main })
}

/** The secret is on this page alone, so the answer is no redirect. */
async function create({ api, form: fields, show }: ConsoleCall) {
  const lifetime = fields.get('lifetime')
  const created = await api(createOneInvitation, {
    input: {
      organization_id: fields.get('organization_id'),
      agent_id: fields.get('agent_id'),
      expires_in_seconds: lifetime === undefined ? undefined : Number(lifetime),
      reason: fields.get('reason'),
    },
  })
  const names = await namesOf(api, [created.organization_id])
  const main = html`${notice({
      tone: 'warn',
      title: 'Copy the command now. It is not shown again.',
      text: 'Whoever runs it first joins as an agent of this organization. Send it on a confidential channel.',
    })}
    <p>The developer of the agent runs:</p>
    ${commandLine(`npx aex agent join ${created.invitation}`)}
    ${definitionList([
      ['Organization', organizationLink(names, created.organization_id)],
      ['Agent', created.agent_id ?? 'one new agent'],
      ['Expires', exactTime(new Date(created.expires_at))],
    ])}
    <p><a href="/invitations/${created.invitation_id}">See when it was used</a></p>`
  return show({ title: 'Invitation created', main })
}

async function showOne({ api, params, show, now, operator, formState }: ConsoleCall) {
  const row = await api(readInvitation, { params: { invitation_id: params['invitation_id'] ?? '' } })
  const names = await namesOf(api, [row.organization_id])
  const { client_id, used_agent_id } = row
  const canRevoke = (row.state === 'open' || row.state === 'expired') && hasRole(operator, 'operator')
  const main = html`${definitionList([
    ['Organization', organizationLink(names, row.organization_id)],
    ['State', statusBadge(row.state)],
    ['For', row.agent_id ?? 'one new agent'],
    ['Created', html`by ${row.created_by} ${timeOf(row.created_at, now)}`],
    ['Expires', timeOf(row.expires_at, now)],
    ...(row.revoked_at === undefined ? [] : ([['Revoked', timeOf(row.revoked_at, now)]] as const)),
    ...(row.used_at === undefined
      ? []
      : ([
          ['Used', timeOf(row.used_at, now)],
          ['Joined as', used_agent_id ? identifier(used_agent_id, pathTo('agents', used_agent_id)) : ''],
          [
            'Client',
            client_id
              ? identifier(client_id, pathTo('organizations', row.organization_id, 'clients', client_id))
              : '',
          ],
          ['Key thumbprint', row.client_thumbprint ? identifier(row.client_thumbprint) : ''],
        ] as const)),
    ['Invitation', identifier(row.invitation_id)],
  ])}
  ${
    canRevoke &&
    confirmation({
      summary: 'Revoke…',
      explanation: 'Nobody can join with this invitation any more.',
      form: {
        id: 'revoke',
        action: `${pathTo('invitations', row.invitation_id)}/revoke`,
        ...formState,
        fields: [REASON],
        submit: { label: 'Revoke invitation' },
      },
    })
  }`
  return show({ title: `Invitation for ${visible(nameOf(names, row.organization_id))}`, main })
}

async function revoke({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['invitation_id'] ?? ''
  await api(revokeInvitation, { params: { invitation_id: id }, input: { reason: fields.get('reason') } })
  return redirect(pathTo('invitations', id), { tone: 'good', title: 'The invitation is revoked.' })
}
