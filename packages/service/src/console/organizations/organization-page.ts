import {
  buttonLink,
  confirmation,
  definitionList,
  html,
  identifier,
  notice,
  shortIdentifier,
  table,
  type Html,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { readAgents } from '../../operator/routes/agents.ts'
import { readClients } from '../../operator/routes/clients.ts'
import { readConnectors } from '../../operator/routes/connectors.ts'
import { readInvitations } from '../../operator/routes/invitations.ts'
import {
  activateOrganization,
  changeContact,
  readOrganization,
  suspendOrganization,
} from '../../operator/routes/organizations.ts'
import { bytesText } from '../bytes-text.ts'
import type { ConsoleCall } from '../console-page.ts'
import { OPTIONAL_REASON, outsideText, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { invitedAgent } from '../invitations/invited-agent.ts'
import { timeOf } from '../time.ts'
import { acceptsText, listText } from './consent-page.ts'

/** Rows of each list on this page; the full lists have pages of their own. */
const SHOWN_ROWS = 10

type Shown = Awaited<ReturnType<typeof readOrganization.run>>

export async function showOrganization(call: ConsoleCall) {
  const { api, params, show, operator, now } = call
  const id = params['organization_id'] ?? ''
  const organization = await api(readOrganization, { params: { organization_id: id } })
  const { status, is_platform } = organization
  const mayChange = hasRole(operator, 'operator') && status !== 'ended' && !is_platform
  const main = html`${stateNotice(organization)}
  ${definitionList([
    ['Status', statusBadge(organization.status)],
    ['Contact', organization.contact === null ? 'none' : outsideText(organization.contact)],
    ['Created', timeOf(organization.created_at, now)],
    [
      'Webhooks',
      html`<a href="/endpoints?organization_id=${id}">Endpoints</a>,
        <a href="/deliveries?organization_id=${id}">deliveries</a>,
        <a href="/alerts?organization_id=${id}">alerts</a>`,
    ],
    [
      'Accepts packages from',
      html`<a href="/organizations/${id}/consent">${acceptsText(organization.consent)}</a>
        <span class="quiet">${listText(organization.consent)}</span>`,
    ],
    ['Changes', html`<a href="/operator-log?target=${id}">In the operator log</a>`],
    ['Id', identifier(id)],
  ])}
  ${await agentsOf(call, id, mayChange && status === 'active')} ${await clientsOf(call, id, mayChange)}
  ${await connectorsOf(call, id, mayChange)} ${await invitationsOf(call, id)} ${quotas(organization)}
  ${actions(call, organization)}`
  return show({ title: organization.name, main })
}

function stateNotice({ status, end, organization_id }: Shown): Html | undefined {
  if (status === 'suspended')
    return notice({ tone: 'warn', title: 'Suspended: every request of this organization is refused.' })
  if (status !== 'ended') return undefined
  return notice({
    tone: 'bad',
    title:
      end?.state === 'finished'
        ? 'This organization has ended.'
        : 'This organization has ended; its data is being removed.',
    text: html`<a href="/organizations/${organization_id}/end">What was removed and what is kept</a>`,
  })
}

async function agentsOf({ api, now }: ConsoleCall, id: string, mayInvite: boolean): Promise<Html> {
  const { items, has_more } = await api(readAgents, { input: { organization_id: id, limit: SHOWN_ROWS } })
  const invite =
    mayInvite &&
    buttonLink(`/invitations/new?organization_id=${encodeURIComponent(id)}`, 'Invite an agent', 'primary')
  return html`<h2>Agents</h2>
    ${table({
      caption: 'Agents',
      hidesCaption: true,
      columns: [
        { title: 'Agent' },
        { title: 'Status' },
        { title: 'Certification' },
        { title: 'Software' },
        { title: 'Registered' },
      ],
      rows: items.map((agent) => [
        shortIdentifier(agent.agent_id, pathTo('agents', agent.agent_id)),
        statusBadge(agent.status),
        statusBadge(agent.certification_status),
        outsideText(`${agent.implementation} ${agent.implementation_version}`),
        timeOf(agent.registered_at, now),
      ]),
      empty: {
        title: 'No agents yet',
        text: 'Create an invitation and send it to the developer of the agent, who joins with one command.',
      },
    })}
    ${has_more && html`<p><a href="/agents?organization_id=${id}">All agents of this organization</a></p>`}
    ${invite && html`<p>${invite}</p>`}`
}

async function clientsOf({ api, now }: ConsoleCall, id: string, mayChange: boolean): Promise<Html> {
  const { items, has_more } = await api(readClients, { input: { organization_id: id, limit: SHOWN_ROWS } })
  return html`<h2>Clients</h2>
    ${table({
      caption: 'Clients',
      hidesCaption: true,
      columns: [
        { title: 'Acts as' },
        { title: 'Credential' },
        { title: 'Status' },
        { title: 'Created' },
        { title: 'Client' },
      ],
      rows: items.map((client) => [
        client.agent_id === undefined
          ? 'all agents'
          : shortIdentifier(client.agent_id, pathTo('agents', client.agent_id)),
        client.authentication,
        statusBadge(client.status),
        timeOf(client.created_at, now),
        shortIdentifier(client.client_id, pathTo('organizations', id, 'clients', client.client_id)),
      ]),
      empty: { title: 'No clients', text: 'An agent that joins by invitation gets its client by itself.' },
    })}
    ${has_more && html`<p class="quiet">There are more: <code>aex client list --org ${id}</code></p>`}
    ${mayChange && html`<p><a href="/organizations/${id}/add-client">Add a client by its public key or certificate</a></p>`}`
}

async function connectorsOf({ api, now }: ConsoleCall, id: string, mayChange: boolean): Promise<Html> {
  const { items, has_more } = await api(readConnectors, { input: { organization_id: id, limit: SHOWN_ROWS } })
  return html`<h2>Connectors</h2>
    ${table({
      caption: 'Connectors',
      hidesCaption: true,
      columns: [
        { title: 'Connector' },
        { title: 'Participant' },
        { title: 'Address' },
        { title: 'Status' },
        { title: 'Changed' },
      ],
      rows: items.map((connector) => [
        html`<a href="/organizations/${id}/connectors/${connector.connector_id}"
          >${outsideText(connector.connector_id)}</a
        >`,
        outsideText(connector.participant_id),
        outsideText(connector.endpoint),
        statusBadge(connector.status),
        timeOf(connector.updated_at, now),
      ]),
      empty: {
        title: 'No connectors',
        text: 'Packages are stored by the exchange. With an approved connector on both sides, new threads use the data space.',
      },
    })}
    ${has_more && html`<p class="quiet">There are more: <code>aex connector list --org ${id}</code></p>`}
    ${mayChange && html`<p><a href="/organizations/${id}/approve-connector">Approve a connector</a></p>`}`
}

async function invitationsOf({ api, now }: ConsoleCall, id: string): Promise<Html | undefined> {
  const { items } = await api(readInvitations, { input: { organization_id: id, limit: SHOWN_ROWS } })
  if (items.length === 0) return undefined
  return html`<h2>Invitations</h2>
    ${table({
      caption: 'Invitations',
      hidesCaption: true,
      columns: [
        { title: 'For' },
        { title: 'State' },
        { title: 'Created by' },
        { title: 'Expires' },
        { title: 'Invitation' },
      ],
      rows: items.map((invitation) => [
        invitedAgent(invitation),
        statusBadge(invitation.state),
        invitation.created_by,
        timeOf(invitation.expires_at, now),
        shortIdentifier(invitation.invitation_id, pathTo('invitations', invitation.invitation_id)),
      ]),
    })}
    <p><a href="/invitations?organization_id=${id}">All invitations of this organization</a></p>`
}

const QUOTA_NAMES: Readonly<Record<string, string>> = {
  agents: 'Agents',
  webhook_endpoints: 'Webhook endpoints',
  unused_policy_receipts: 'Policy receipts without a package',
  stored_bytes: 'Stored content',
}
const NUMBER = new Intl.NumberFormat('en')
const amountOf = (name: string) => (name.endsWith('_bytes') ? bytesText : NUMBER.format)

function quotas({ usage }: Shown): Html {
  return html`<h2>Quotas</h2>
    ${table({
      caption: 'Quotas',
      hidesCaption: true,
      columns: [
        { title: 'Quota' },
        { title: 'Used', isNumeric: true },
        { title: 'Limit', isNumeric: true },
        { title: 'Share', isNumeric: true },
      ],
      rows: Object.entries(usage).map(([name, { used, maximum }]) => [
        QUOTA_NAMES[name] ?? name,
        amountOf(name)(used),
        amountOf(name)(maximum),
        `${Math.floor((used / maximum) * 100)} %`,
      ]),
    })}
    <p class="quiet">Limits are set in the deployment profile, <a href="/open-points">O-13</a>.</p>`
}

function actions(
  { operator, formState }: ConsoleCall,
  { organization_id: id, status, is_platform, contact }: Shown,
): Html | undefined {
  if (!hasRole(operator, 'operator')) return undefined
  const path = pathTo('organizations', id)
  return html`<h2>Access and data</h2>
    ${confirmation({
      summary: 'Change the contact…',
      explanation: is_platform
        ? 'Alerts about the exchange itself are sent to this address: its log, keys and certificates.'
        : 'Alerts about failing webhooks and expiring certificates are sent to this address.',
      form: {
        id: 'contact',
        action: `${path}/contact`,
        ...formState,
        fields: [
          {
            kind: 'email',
            name: 'contact',
            label: 'Contact',
            maxLength: 320,
            value: contact ?? '',
            hint: 'Leave it empty for none.',
          },
          OPTIONAL_REASON,
        ],
        submit: { label: 'Change contact', tone: 'primary' },
      },
    })}
    ${
      status === 'active' &&
      !is_platform &&
      confirmation({
        summary: 'Suspend…',
        explanation:
          'Every request of this organization is refused from the next one on, also with tokens that were issued before. Its webhooks wait. You can resume it.',
        form: {
          id: 'suspend',
          action: `${path}/suspend`,
          ...formState,
          fields: [REASON],
          submit: { label: 'Suspend organization' },
        },
      })
    }
    ${
      status === 'suspended' &&
      confirmation({
        summary: 'Resume…',
        explanation: 'Its agents can send and receive again, and waiting webhooks are sent.',
        form: {
          id: 'activate',
          action: `${path}/activate`,
          ...formState,
          fields: [OPTIONAL_REASON],
          submit: { label: 'Resume organization', tone: 'primary' },
        },
      })
    }
    <ul>
      <li><a href="/organizations/${id}/export">Export the data of this organization</a></li>
      ${hasRole(operator, 'administrator') && !is_platform && html`<li><a href="/organizations/${id}/end">End this organization</a></li>`}
    </ul>`
}

export async function suspend({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  await api(suspendOrganization, { params: { organization_id: id }, input: { reason: fields.get('reason') } })
  return redirect(pathTo('organizations', id), { tone: 'good', title: `${id} is suspended.` })
}

export async function saveContact({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  await api(changeContact, {
    params: { organization_id: id },
    input: { contact: fields.get('contact'), reason: fields.get('reason') },
  })
  return redirect(pathTo('organizations', id), { tone: 'good', title: 'The contact was changed.' })
}

export async function activate({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  await api(activateOrganization, {
    params: { organization_id: id },
    input: { reason: fields.get('reason') },
  })
  return redirect(pathTo('organizations', id), { tone: 'good', title: `${id} is active again.` })
}
