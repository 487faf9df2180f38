import type { Transaction } from '@agent-exchange/database'
import { removeRecordsOf } from '../../kernel/idempotency-records.ts'
import { removeEndpointsOf } from '../../webhooks/endpoints/endpoint-store.ts'
import { removeDeliveriesOf } from '../../webhooks/queue/delivery-store.ts'
import { retireAgentsOf } from '../agents/agent-store.ts'
import { removeAlertsOf } from '../alerts/alert-store.ts'
import { removeNotificationsOf } from '../notifications/notification-store.ts'
import { removeClientsOf } from './client-store.ts'
import { removeConnectorsOf } from './connector-store.ts'
import { removeSenderRulesOf } from './consent-store.ts'
import { removeInvitationsOf } from './invitation-store.ts'
import { removeContactOf } from './organization-store.ts'

/** Rows of one statement: short locks, and room for others between the steps. */
export const STEP_ROWS = 1_000

/** Returns the number of rows; fewer than STEP_ROWS means that none is left. */
type Removal = (tx: Transaction, organizationId: string, now: string) => Promise<number>

/** In this order: what refers to something goes before it. */
export const REMOVALS: Readonly<Record<string, Removal>> = {
  clients: (tx, id) => removeClientsOf(tx, id, STEP_ROWS),
  invitations: (tx, id) => removeInvitationsOf(tx, id, STEP_ROWS),
  connectors: (tx, id) => removeConnectorsOf(tx, id, STEP_ROWS),
  sender_rules: (tx, id) => removeSenderRulesOf(tx, id, STEP_ROWS),
  retired_agents: (tx, id, now) => retireAgentsOf(tx, id, { now, limit: STEP_ROWS }),
  alerts: (tx, id) => removeAlertsOf(tx, id, STEP_ROWS),
  // What a worker is sending right now waits for the next step.
  deliveries: (tx, id) => removeDeliveriesOf(tx, id, STEP_ROWS),
  endpoints: (tx, id, now) => removeEndpointsOf(tx, id, { now, limit: STEP_ROWS }),
  notifications: (tx, id) => removeNotificationsOf(tx, id, STEP_ROWS),
  idempotency_records: (tx, id) => removeRecordsOf(tx, id, STEP_ROWS),
  contact: async (tx, id) => Number(await removeContactOf(tx, id)),
}

export async function hasPendingDeliveries(tx: Transaction, organizationId: string): Promise<boolean> {
  const rows = await tx`
    select from webhook_endpoint as endpoint cross join lateral (
      select from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id and state = 'pending'
      limit 1) as pending
    where endpoint.organization_id = ${organizationId} limit 1`
  return rows.length > 0
}
