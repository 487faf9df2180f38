import { agentId as agentForm, organizationId as organizationForm } from '@agent-exchange/protocol'
import { Type, type Static } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import { findAgent } from '../../features/agents/agent-store.ts'
import {
  disableClient,
  findClient,
  insertClient,
  listClients,
  lockClient,
  replaceCredential,
  type ClientRow,
} from '../../features/organizations/client-store.ts'
import { readCredential } from '../../features/organizations/client-credential.ts'
import { requireOwnClients } from '../../features/organizations/external-clients.ts'
import { lockOrganization } from '../../features/organizations/organization-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, text, type Route } from '../route.ts'

const MAXIMUM_CERTIFICATE_CHARACTERS = 32_768
const MAXIMUM_DNS_NAME_CHARACTERS = 253

/** Exactly one of the three. readCredential validates the JWK, with better messages than a schema. */
const credentialFields = {
  public_jwk: Type.Optional(Type.Object({})),
  certificate: Type.Optional(Type.String({ minLength: 1, maxLength: MAXIMUM_CERTIFICATE_CHARACTERS })),
  tls_san_dns: Type.Optional(text(MAXIMUM_DNS_NAME_CHARACTERS)),
}

const newClient = input({
  organization_id: organizationForm,
  agent_id: Type.Optional(agentForm),
  ...credentialFields,
  reason: optionalReason,
})
const rotation = input({ ...credentialFields, reason: optionalReason })

export const createClient = change(
  '/clients',
  { body: newClient, status: 201 },
  async ({ input: body, context, now }, tx) => {
    requireOwnClients(context)
    const credential = await readCredential(body)
    await requireOwner(tx, body, context.profile['O-42'].organization_id)
    const clientId = context.newId('client')
    const { organization_id: organizationId, agent_id: agentId } = body
    await insertClient(tx, { clientId, organizationId, agentId, credential, now })
    const details = { organization_id: organizationId, agent_id: agentId, ...credential }
    return { answer: await show(tx, clientId), action: 'client.create', target: clientId, details }
  },
)

export const readClients = read('/clients', input({ ...pageFields, organization_id: filter }), (call, db) => {
  const organizationId = call.input.organization_id
  const rows = (after: string | undefined, limit: number) => listClients(db, { organizationId, after, limit })
  return listPage(
    call,
    { name: ['clients', organizationId], rows, position: (row) => row.client_id },
    toClient,
  )
})

export const readClient = read('/clients/:client_id', input({}), async ({ params }, db) => {
  const client = await findClient(db, params['client_id'] ?? '')
  if (!client) throw new Problem('resource_not_found')
  return toClient(client)
})

/** Takes effect with the next request, including for issued tokens. */
export const disableOneClient = change(
  '/clients/:client_id/disable',
  { body: input({ reason }) },
  async ({ params }, tx) => {
    const client = await requireActive(tx, params['client_id'])
    await disableClient(tx, client.client_id)
    return { answer: await show(tx, client.client_id), action: 'client.disable', target: client.client_id }
  },
)

export const rotateClient = change(
  '/clients/:client_id/rotate',
  { body: rotation },
  async ({ params, input: body }, tx) => {
    const credential = await readCredential(body)
    const client = await requireActive(tx, params['client_id'])
    await replaceCredential(tx, client.client_id, credential)
    const answer = await show(tx, client.client_id)
    return { answer, action: 'client.rotate', target: client.client_id, details: credential }
  },
)

export const clientRoutes: readonly Route[] = [
  createClient,
  readClients,
  readClient,
  disableOneClient,
  rotateClient,
]

async function requireOwner(
  tx: Transaction,
  body: Static<typeof newClient>,
  platform: string,
): Promise<void> {
  // A client of the platform's organization could register keys that sign on behalf of the platform.
  if (body.organization_id === platform) throw new Problem('not_permitted')
  const organization = await lockOrganization(tx, body.organization_id)
  if (!organization) throw new Problem('resource_not_found')
  if (organization.status === 'ended') throw new Problem('invalid_state_transition', { state: 'ended' })
  const agent = body.agent_id === undefined ? undefined : await findAgent(tx, body.agent_id)
  if (agent && agent.organization_id !== body.organization_id) throw new Problem('identifier_conflict')
}

async function requireActive(tx: Transaction, clientId = ''): Promise<ClientRow> {
  const client = await lockClient(tx, clientId)
  if (!client) throw new Problem('resource_not_found')
  if (client.status !== 'active') throw new Problem('invalid_state_transition', { state: client.status })
  return client
}

async function show(tx: Transaction, clientId: string) {
  const client = await lockClient(tx, clientId)
  if (!client) throw new Error('the client that was just written is missing')
  return toClient(client)
}

function toClient({ agent_id, public_jwk, certificate, tls_san_dns, ...client }: ClientRow) {
  return {
    ...client,
    ...(agent_id !== null && { agent_id }),
    ...(public_jwk !== null && { public_jwk: JSON.parse(public_jwk) as object }),
    ...(certificate !== null && { certificate }),
    ...(tls_san_dns !== null && { tls_san_dns }),
  }
}
