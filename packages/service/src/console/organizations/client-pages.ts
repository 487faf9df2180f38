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
import { Problem } from '../../kernel/problem.ts'
import { createClient, disableOneClient, readClient, rotateClient } from '../../operator/routes/clients.ts'
import type { ConsoleCall } from '../console-page.ts'
import { OPTIONAL_REASON, outsideText, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { nameOf, namesOf, organizationLink } from '../organization-names.ts'
import { timeOf } from '../time.ts'

const CREDENTIAL: readonly Field[] = [
  {
    kind: 'textarea',
    name: 'public_jwk',
    label: 'Public JWK',
    hint: 'For private_key_jwt: the file client-public-key.json of the agent. Never a private key.',
  },
  {
    kind: 'textarea',
    name: 'certificate',
    label: 'Certificate',
    hint: 'PEM, for self_signed_tls_client_auth.',
  },
  {
    kind: 'text',
    name: 'tls_san_dns',
    label: 'DNS name',
    hint: 'In the certificate, for tls_client_auth.',
    maxLength: 253,
  },
]

export async function newClient({ api, params, show, formState }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const names = await namesOf(api, [id])
  const main = html`<p class="lead">
      For agents that cannot join by invitation. Give exactly one of key, certificate and DNS name.
    </p>
    ${form({
      id: 'client',
      action: `${pathTo('organizations', id)}/clients`,
      ...formState,
      fields: [
        {
          kind: 'text',
          name: 'agent_id',
          label: 'Agent',
          hint: 'The only agent that it acts as. Empty: all agents of the organization.',
        },
        ...CREDENTIAL,
        OPTIONAL_REASON,
      ],
      submit: { label: 'Add client' },
      cancel: { href: pathTo('organizations', id), label: 'Cancel' },
    })}`
  return show({ title: `Add a client of ${visible(nameOf(names, id))}`, main })
}

export async function addClient({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const { client_id } = await api(createClient, {
    input: {
      organization_id: id,
      agent_id: fields.get('agent_id'),
      ...credentialOf(fields),
      reason: fields.get('reason'),
    },
  })
  return redirect(pathTo('organizations', id, 'clients', client_id), {
    tone: 'good',
    title: `${client_id} was added.`,
  })
}

export async function showClient({ api, params, show, operator, formState, now }: ConsoleCall) {
  const client = await api(readClient, { params: { client_id: params['client_id'] ?? '' } })
  const { client_id, organization_id, agent_id } = client
  const names = await namesOf(api, [organization_id])
  const canChange = client.status === 'active' && hasRole(operator, 'operator')
  const main = html`${definitionList([
    ['Organization', organizationLink(names, organization_id)],
    ['Acts as', agent_id === undefined ? 'all agents' : identifier(agent_id, pathTo('agents', agent_id))],
    ['Authentication', client.authentication],
    ['DNS name', client.tls_san_dns === undefined ? '–' : outsideText(client.tls_san_dns)],
    ['Status', statusBadge(client.status)],
    ['Created', timeOf(client.created_at, now)],
    ['Changes', html`<a href="/operator-log?target=${client_id}">In the operator log</a>`],
    ['Id', identifier(client_id)],
  ])}
  ${canChange && changes(pathTo('organizations', organization_id, 'clients', client_id), formState)}`
  return show({ title: `Client of ${visible(nameOf(names, organization_id))}`, main })
}

function changes(path: string, formState: FormState): Html {
  return html`<h2>Access</h2>
    ${confirmation({
      summary: 'Replace the credential…',
      explanation:
        'The current credential and all access tokens of this client stop working with the next request.',
      form: {
        id: 'rotate',
        action: `${path}/rotate`,
        ...formState,
        fields: [...CREDENTIAL, OPTIONAL_REASON],
        submit: { label: 'Replace credential' },
      },
    })}
    ${confirmation({
      summary: 'Disable…',
      explanation:
        'The client gets no more tokens, and its tokens stop working with the next request. This cannot be undone.',
      form: {
        id: 'disable',
        action: `${path}/disable`,
        ...formState,
        fields: [REASON],
        submit: { label: 'Disable client' },
      },
    })}`
}

export async function disable({ api, params, form: fields, redirect }: ConsoleCall) {
  const { organization_id: id = '', client_id = '' } = params
  await api(disableOneClient, { params: { client_id }, input: { reason: fields.get('reason') } })
  return redirect(pathTo('organizations', id, 'clients', client_id), {
    tone: 'good',
    title: 'The client is disabled.',
  })
}

export async function rotate({ api, params, form: fields, redirect }: ConsoleCall) {
  const { organization_id: id = '', client_id = '' } = params
  await api(rotateClient, {
    params: { client_id },
    input: { ...credentialOf(fields), reason: fields.get('reason') },
  })
  return redirect(pathTo('organizations', id, 'clients', client_id), {
    tone: 'good',
    title: 'The credential was replaced.',
  })
}

function credentialOf(fields: ConsoleCall['form']) {
  return {
    public_jwk: jwkOf(fields.get('public_jwk')),
    certificate: fields.get('certificate'),
    tls_san_dns: fields.get('tls_san_dns'),
  }
}

function jwkOf(text: string | undefined): object | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Refused below.
  }
  const message = 'Paste the JSON of the file client-public-key.json.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/public_jwk', rule: 'AUTH-02', message }] })
}
