import {
  confirmation,
  definitionList,
  form,
  html,
  identifier,
  visible,
  type Field,
  type Html,
  type FormState,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import {
  approveOneConnector,
  readConnector,
  revokeConnector,
  suspendConnector,
} from '../../operator/routes/connectors.ts'
import type { ConsoleCall } from '../console-page.ts'
import { OPTIONAL_REASON, outsideText, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { nameOf, namesOf, organizationLink } from '../organization-names.ts'
import { timeOf } from '../time.ts'

type Connector = Awaited<ReturnType<typeof readConnector.run>>

export async function newConnector({ api, params, show, formState }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const names = await namesOf(api, [id])
  const main = html`<p class="lead">
      If both organizations of a new thread have an approved connector, its packages go through the data
      space.
    </p>
    ${approval(id, formState)}`
  return show({ title: `Approve a connector of ${visible(nameOf(names, id))}`, main })
}

function approval(id: string, formState: FormState, known?: Connector): Html {
  const fields: Field[] = [
    known
      ? { kind: 'hidden', name: 'connector_id', value: known.connector_id }
      : {
          kind: 'text',
          name: 'connector_id',
          label: 'Connector id',
          isRequired: true,
          maxLength: 256,
          hint: 'As package manifests name it.',
        },
    {
      kind: 'text',
      name: 'participant_id',
      label: 'Participant id',
      isRequired: true,
      maxLength: 256,
      value: known?.participant_id ?? '',
    },
    {
      kind: 'url',
      name: 'endpoint',
      label: 'Protocol address',
      isRequired: true,
      maxLength: 2_048,
      value: known?.endpoint ?? '',
    },
    known ? REASON : OPTIONAL_REASON,
  ]
  return form({
    id: 'connector',
    action: `${pathTo('organizations', id)}/connectors`,
    ...formState,
    fields,
    submit: { label: known ? 'Approve again' : 'Approve connector' },
    cancel: { href: pathTo('organizations', id), label: 'Cancel' },
  })
}

export async function approve({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const { connector_id = '' } = (await api(approveOneConnector, {
    input: {
      organization_id: id,
      connector_id: fields.get('connector_id'),
      participant_id: fields.get('participant_id'),
      endpoint: fields.get('endpoint'),
      reason: fields.get('reason'),
    },
  })) as Partial<Connector>
  return redirect(pathTo('organizations', id, 'connectors', connector_id), {
    tone: 'good',
    title: 'The connector is approved.',
  })
}

export async function showConnector({ api, params, show, operator, formState, now }: ConsoleCall) {
  const { organization_id = '', connector_id = '' } = params
  const connector = await api(readConnector, { params: { organization_id, connector_id } })
  const names = await namesOf(api, [organization_id])
  const main = html`${definitionList([
    ['Organization', organizationLink(names, organization_id)],
    ['Connector', identifier(connector.connector_id)],
    ['Participant', outsideText(connector.participant_id)],
    ['Address', outsideText(connector.endpoint)],
    ['Status', statusBadge(connector.status)],
    ['Approved', timeOf(connector.approved_at, now)],
    ['Changed', timeOf(connector.updated_at, now)],
  ])}
  ${hasRole(operator, 'operator') && changes(connector, formState)}`
  return show({ title: `Connector of ${visible(nameOf(names, organization_id))}`, main })
}

function changes(connector: Connector, formState: FormState): Html {
  const { organization_id, connector_id, status } = connector
  const path = pathTo('organizations', organization_id, 'connectors', connector_id)
  return html`<h2>Access</h2>
    ${
      status === 'approved' &&
      confirmation({
        summary: 'Suspend…',
        explanation: 'New packages through this connector are refused at once. You can approve it again.',
        form: {
          id: 'suspend',
          action: `${path}/suspend`,
          ...formState,
          fields: [REASON],
          submit: { label: 'Suspend connector' },
        },
      })
    }
    ${
      status !== 'revoked' &&
      confirmation({
        summary: 'Revoke…',
        explanation: 'The approval is withdrawn. New packages through this connector are refused at once.',
        form: {
          id: 'revoke',
          action: `${path}/revoke`,
          ...formState,
          fields: [REASON],
          submit: { label: 'Revoke connector' },
        },
      })
    }
    <h3>${status === 'approved' ? 'Change its data' : 'Approve again'}</h3>
    ${approval(organization_id, formState, connector)}`
}

export async function suspendOne(call: ConsoleCall) {
  return withdraw(call, suspendConnector, 'The connector is suspended.')
}

export async function revokeOne(call: ConsoleCall) {
  return withdraw(call, revokeConnector, 'The connector is revoked.')
}

async function withdraw(
  { api, params, form: fields, redirect }: ConsoleCall,
  route: typeof suspendConnector,
  title: string,
) {
  const { organization_id = '', connector_id = '' } = params
  await api(route, { params: { organization_id, connector_id }, input: { reason: fields.get('reason') } })
  return redirect(pathTo('organizations', organization_id, 'connectors', connector_id), {
    tone: 'good',
    title,
  })
}
