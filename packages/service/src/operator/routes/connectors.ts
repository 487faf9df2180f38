import { organizationId as organizationForm } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import {
  approveConnector,
  findConnector,
  listConnectors,
  lockConnector,
  setConnectorStatus,
  type ConnectorPosition,
  type ConnectorStatus,
} from '../../features/organizations/connector-store.ts'
import { lockOrganization } from '../../features/organizations/organization-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, text, type OperatorCall, type Route } from '../route.ts'

const MAXIMUM_ID_CHARACTERS = 256
const MAXIMUM_ADDRESS_CHARACTERS = 2_048

const approval = input({
  organization_id: organizationForm,
  connector_id: text(MAXIMUM_ID_CHARACTERS),
  participant_id: text(MAXIMUM_ID_CHARACTERS),
  endpoint: Type.String({
    maxLength: MAXIMUM_ADDRESS_CHARACTERS,
    format: 'uri',
    pattern: '^https?://',
    description: 'the http(s) address of the connector, without user information',
  }),
  reason: optionalReason,
})

export const approveOneConnector = change(
  '/connectors',
  { body: approval, status: 201 },
  async ({ input: { reason: why, ...body }, now }, tx) => {
    const { organization_id, connector_id, participant_id, endpoint } = body
    requireAddress(endpoint)
    // Locks the organization, which serializes approvals of one connector.
    const organization = await lockOrganization(tx, organization_id)
    if (!organization) throw new Problem('resource_not_found')
    if (organization.status === 'ended') throw new Problem('invalid_state_transition', { state: 'ended' })
    const previous = await lockConnector(tx, organization_id, connector_id)
    if (previous?.status === 'revoked' && why === undefined) throw reasonRequired()
    await approveConnector(tx, { ...body, now })
    return {
      answer: (await lockConnector(tx, organization_id, connector_id)) ?? {},
      action: 'connector.approve',
      target: `${organization_id}/${connector_id}`,
      details: { participant_id, endpoint, ...(previous && { former_status: previous.status }) },
    }
  },
)

export const readConnectors = read(
  '/connectors',
  input({ ...pageFields, organization_id: filter }),
  (call, db) => {
    const organizationId = call.input.organization_id
    const rows = (after: string | undefined, limit: number) => {
      const position = after === undefined ? undefined : (JSON.parse(after) as ConnectorPosition)
      return listConnectors(db, { organizationId, after: position, limit })
    }
    const listing = { name: ['connectors', organizationId], rows }
    return listPage(
      call,
      {
        ...listing,
        position: (row) =>
          JSON.stringify({ organizationId: row.organization_id, connectorId: row.connector_id }),
      },
      (row) => row,
    )
  },
)

export const readConnector = read(
  '/organizations/:organization_id/connectors/:connector_id',
  input({}),
  async ({ params }, db) => {
    const { organization_id: organizationId = '', connector_id: connectorId = '' } = params
    const connector = await findConnector(db, organizationId, connectorId)
    if (!connector) throw new Problem('resource_not_found')
    return connector
  },
)

export const suspendConnector = change(connectorPath('suspend'), { body: input({ reason }) }, (call, tx) =>
  moveTo('suspended', 'connector.suspend', call, tx),
)

export const revokeConnector = change(connectorPath('revoke'), { body: input({ reason }) }, (call, tx) =>
  moveTo('revoked', 'connector.revoke', call, tx),
)

export const connectorRoutes: readonly Route[] = [
  approveOneConnector,
  readConnectors,
  readConnector,
  suspendConnector,
  revokeConnector,
]

function connectorPath(verb: string): string {
  return `/organizations/:organization_id/connectors/:connector_id/${verb}`
}

async function moveTo(status: ConnectorStatus, action: string, call: OperatorCall<unknown>, tx: Transaction) {
  const { organization_id: organizationId = '', connector_id: connectorId = '' } = call.params
  const connector = await lockConnector(tx, organizationId, connectorId)
  if (!connector) throw new Problem('resource_not_found')
  // Suspending a revoked connector would weaken the revocation.
  if (connector.status === status || connector.status === 'revoked') {
    throw new Problem('invalid_state_transition', { state: connector.status })
  }
  await setConnectorStatus(tx, connector, { status, now: call.now })
  return {
    answer: { ...connector, status, updated_at: call.now },
    action,
    target: `${organizationId}/${connectorId}`,
  }
}

function requireAddress(endpoint: string): void {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url && url.username === '' && url.password === '') return
  const message = 'Use an http(s) URL without user information.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/endpoint', rule: 'PKG-03', message }] })
}

function reasonRequired(): Problem {
  const message = 'This connector was revoked. Give a reason for approving it again.'
  return new Problem('validation_failed', { failures: [{ pointer: '/reason', rule: 'O-20', message }] })
}
