import type { Database } from '@agent-exchange/database'
import { keyEventsOf } from '../agents/key-history.ts'
import { listAgents } from '../agents/agent-store.ts'
import { keysOf } from '../agents/key-store.ts'
import { toAgent } from '../agents/resources.ts'
import { listAlerts } from '../alerts/alert-queries.ts'
import { listEndpoints } from '../../webhooks/endpoints/endpoint-queries.ts'
import { listClients } from './client-store.ts'
import { listConnectors, type ConnectorPosition } from './connector-store.ts'
import { findConsent, listSenderRules } from './consent-store.ts'
import { exportEvidence } from './export-evidence.ts'
import type { ExportPage, ExportRequest } from './export-page.ts'
import { listInvitations } from './invitation-store.ts'
import { findOrganization } from './organization-store.ts'
import { readUsage } from './usage-store.ts'

export interface ExportSection {
  /** The `type` of its records. */
  readonly type: string
  readonly read: (request: ExportRequest) => Promise<ExportPage>
}

const PAGE_ROWS = 100
/** An agent comes with all its keys and their events. */
const PAGE_AGENTS = 10

/** In this order. Only public keys; never content, tokens or secrets. */
export const EXPORT_SECTIONS: readonly ExportSection[] = [
  {
    type: 'organization',
    async read({ db, organizationId }) {
      const organization = await findOrganization(db, organizationId)
      const [usage, consent] = await Promise.all([
        readUsage(db, organizationId),
        findConsent(db, organizationId),
      ])
      return { records: [{ ...organization, usage, consent }], next: undefined }
    },
  },
  section('client', PAGE_ROWS, ({ db, organizationId, after }, limit) =>
    listClients(db, { organizationId, after, limit }),
  )((row) => row.client_id),
  section('invitation', PAGE_ROWS, ({ db, organizationId, after }, limit) =>
    listInvitations(db, { organizationId, before: after, limit }),
  )((row) => row.invitation_id),
  section('connector', PAGE_ROWS, ({ db, organizationId, after }, limit) => {
    const position: ConnectorPosition | undefined =
      after === undefined ? undefined : { organizationId, connectorId: after }
    return listConnectors(db, { organizationId, after: position, limit })
  })((row) => row.connector_id),
  section('sender_rule', PAGE_ROWS, ({ db, organizationId, after }, limit) =>
    listSenderRules(db, { organizationId, rule: undefined, after, limit }),
  )((row) => row.sender_org_id),
  section('endpoint', PAGE_ROWS, ({ db, organizationId, after }, limit) =>
    listEndpoints(db, { organizationId, status: undefined, after, limit }),
  )((row) => row.webhook_endpoint_id),
  section('agent', PAGE_AGENTS, async ({ db, organizationId, after }, limit) => {
    const rows = await listAgents(db, { organizationId, after, limit })
    return Promise.all(
      rows.map(async (row) => ({
        ...toAgent(row, await keysOf(db, row.agent_id)),
        key_events: await keyEventsOf(db, row.agent_id),
      })),
    )
  })((row) => row.agent_id),
  { type: 'evidence', read: exportEvidence },
  section('notification', PAGE_ROWS, ({ db, organizationId, after }, limit) =>
    listNotifications(db, organizationId, Number(after ?? 0), limit),
  )((row) => String(row.sequence)),
  section('alert', PAGE_ROWS, ({ db, organizationId, after }, limit) =>
    listAlerts(db, {
      organizationId,
      endpointId: undefined,
      kind: undefined,
      before: after === undefined ? undefined : Number(after),
      limit,
    }),
  )((row) => String(row.alert_id)),
]

/** A list that continues after the position of its last row. */
function section<Row extends object>(
  type: string,
  rows: number,
  list: (request: ExportRequest, limit: number) => Promise<readonly Row[]>,
) {
  return (positionOf: (row: Row) => string): ExportSection => ({
    type,
    async read(request) {
      const records = await list(request, rows)
      const last = records.at(-1)
      return { records, next: last && records.length === rows ? positionOf(last) : undefined }
    },
  })
}

interface NotificationRecord {
  readonly sequence: number
  readonly notification: object
}

async function listNotifications(
  db: Database,
  organizationId: string,
  after: number,
  limit: number,
): Promise<NotificationRecord[]> {
  const rows = await db<{ sequence: number; body: string }[]>`
    select sequence, body from notification
    where organization_id = ${organizationId} and sequence > ${after} order by sequence limit ${limit}`
  return rows.map(({ sequence, body }) => ({ sequence, notification: JSON.parse(body) as object }))
}
