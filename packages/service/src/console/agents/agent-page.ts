import {
  confirmation,
  definitionList,
  exactTime,
  html,
  identifier,
  shortIdentifier,
  table,
  visible,
  type Html,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import {
  certifyAgent,
  changeAgentStatus,
  readAgent,
  readAgentStatuses,
} from '../../operator/routes/agents.ts'
import type { ConsoleCall } from '../console-page.ts'
import { OPTIONAL_REASON, outsideText, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { nameOf, namesOf, organizationLink } from '../organization-names.ts'
import { timeOf } from '../time.ts'

type Agent = Awaited<ReturnType<typeof readAgent.run>>

export async function showAgent(call: ConsoleCall) {
  const { api, params, show, operator, now } = call
  const id = params['agent_id'] ?? ''
  const agent = await api(readAgent, { params: { agent_id: id } })
  const names = await namesOf(api, [agent.organization_id])
  const skills = Object.entries(agent.skill_versions).map(([skill, version]) => `${skill} ${version}`)
  const main = html`${definitionList([
    ['Organization', organizationLink(names, agent.organization_id)],
    ['Status', statusBadge(agent.status)],
    ['Certification', statusBadge(agent.certification_status)],
    ['Software', outsideText(`${agent.implementation} ${agent.implementation_version}`)],
    ['Skills', skills.length === 0 ? 'none' : outsideText(skills.join(', '))],
    ['Protocol', outsideText(agent.protocol_versions.join(', '))],
    ['Transport', agent.transport_modes.join(', ')],
    ['Registered', timeOf(agent.registered_at, now)],
    ['Changes', html`<a href="/operator-log?target=${id}">In the operator log</a>`],
    ['Id', identifier(id)],
  ])}
  ${keys(agent, now)} ${history(agent)} ${hasRole(operator, 'operator') && (await changes(call, agent))}`
  return show({ title: `Agent of ${visible(nameOf(names, agent.organization_id))}`, main })
}

function keys({ keys: all }: Agent, now: Date): Html {
  return html`<h2>Keys</h2>
    ${table({
      caption: 'Keys',
      hidesCaption: true,
      columns: [
        { title: 'Key' },
        { title: 'Use' },
        { title: 'Status' },
        { title: 'Valid from' },
        { title: 'Replaces' },
        { title: 'Invalid from' },
      ],
      rows: all.map((key) => [
        shortIdentifier(key.key_id),
        key.use,
        statusBadge(key.status ?? 'active'),
        timeOf(key.valid_from, now),
        key.replaces_key_id && shortIdentifier(key.replaces_key_id),
        key.invalid_from && outsideText(key.invalid_from),
      ]),
      empty: { title: 'No keys', text: 'An agent registers its keys with its registration.' },
    })}`
}

function history({ key_events }: Agent): Html {
  return html`<h2>History of the keys</h2>
    ${table({
      caption: 'History of the keys',
      hidesCaption: true,
      columns: [
        { title: 'Key' },
        { title: 'Event' },
        { title: 'Recorded' },
        { title: 'By' },
        { title: 'Details' },
      ],
      rows: key_events.map((event) => [
        shortIdentifier(event.key_id),
        event.kind,
        exactTime(new Date(event.recorded_at)),
        shortIdentifier(event.actor),
        detailsOf(event.details),
      ]),
      empty: { title: 'No events', text: 'Registration, rotation and revocation of keys appear here.' },
    })}`
}

function detailsOf(details: object): Html | undefined {
  const members = Object.entries(details).filter(([, value]) => value !== null)
  if (members.length === 0) return undefined
  const lines = members.map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return html`<li>${name.replaceAll('_', ' ')}: ${outsideText(text)}</li>`
  })
  return html`<details>
    <summary>Show</summary>
    <ul class="plain">
      ${lines}
    </ul>
  </details>`
}

async function changes({ api, formState }: ConsoleCall, agent: Agent): Promise<Html> {
  const { agent_statuses, certification_statuses } = await api(readAgentStatuses)
  const path = pathTo('agents', agent.agent_id)
  return html`<h2>Status and certification</h2>
    ${confirmation({
      summary: 'Set the status…',
      explanation: 'Only an active agent receives packages. Its keys and its evidence stay as they are.',
      form: {
        id: 'status',
        action: `${path}/status`,
        ...formState,
        fields: [
          {
            kind: 'select',
            name: 'status',
            label: 'Status',
            isRequired: true,
            value: agent.status,
            options: optionsOf(agent_statuses),
          },
          REASON,
        ],
        submit: { label: 'Set status', tone: 'primary' },
      },
    })}
    ${confirmation({
      summary: 'Set the certification…',
      explanation: 'Every agent sees the certification in the directory.',
      form: {
        id: 'certification',
        action: `${path}/certification`,
        ...formState,
        fields: [
          {
            kind: 'select',
            name: 'status',
            label: 'Certification',
            isRequired: true,
            value: agent.certification_status ?? '',
            options: optionsOf(certification_statuses),
          },
          OPTIONAL_REASON,
        ],
        submit: { label: 'Set certification', tone: 'primary' },
      },
    })}
    <p>
      <a href="/invitations/new?organization_id=${agent.organization_id}&amp;agent_id=${agent.agent_id}"
        >Invite this agent again</a
      >, for example if it lost the key of its client.
    </p>`
}

function optionsOf(values: readonly string[]) {
  return values.map((value) => ({ value, label: value }))
}

export async function setStatus({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['agent_id'] ?? ''
  const input = { status: fields.get('status'), reason: fields.get('reason') }
  const { status } = await api(changeAgentStatus, { params: { agent_id: id }, input })
  return redirect(pathTo('agents', id), { tone: 'good', title: `The status is ${status}.` })
}

export async function certify({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['agent_id'] ?? ''
  const input = { status: fields.get('status'), reason: fields.get('reason') }
  const { certification_status } = await api(certifyAgent, { params: { agent_id: id }, input })
  return redirect(pathTo('agents', id), {
    tone: 'good',
    title: `The certification is ${certification_status}.`,
  })
}
