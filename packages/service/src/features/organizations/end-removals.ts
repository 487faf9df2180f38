import type { Transaction } from '@agent-exchange/database'

/** Rows of one statement: short locks, and room for others between the steps. */
export const STEP_ROWS = 1_000

/** Returns the number of rows; fewer than STEP_ROWS means that none is left. */
type Removal = (tx: Transaction, organizationId: string, now: string) => Promise<number>

/** In this order: what refers to something goes before it. */
export const REMOVALS: Readonly<Record<string, Removal>> = {
  clients: async (tx, id) => {
    const { count } = await tx`
      delete from oauth_client where client_id in (
        select client_id from oauth_client where organization_id = ${id} limit ${STEP_ROWS})`
    return count
  },

  invitations: async (tx, id) => {
    const { count } = await tx`
      delete from invitation where invitation_id in (
        select invitation_id from invitation where organization_id = ${id} limit ${STEP_ROWS})`
    return count
  },

  connectors: async (tx, id) => {
    const { count } = await tx`
      delete from connector_connection where organization_id = ${id} and connector_id in (
        select connector_id from connector_connection where organization_id = ${id} limit ${STEP_ROWS})`
    return count
  },

  // Of its own lists. Those of others may go on naming it.
  sender_rules: async (tx, id) => {
    const { count } = await tx`
      delete from sender_rule where organization_id = ${id} and sender_org_id in (
        select sender_org_id from sender_rule where organization_id = ${id} limit ${STEP_ROWS})`
    return count
  },

  retired_agents: async (tx, id, now) => {
    const { count } = await tx`
      update agent set status = 'retired', updated_at = ${now} where agent_id in (
        select agent_id from agent where organization_id = ${id} and status <> 'retired' limit ${STEP_ROWS})`
    return count
  },

  alerts: async (tx, id) => {
    const { count } = await tx`
      delete from alert where alert_id in (
        select alert_id from alert where organization_id = ${id} limit ${STEP_ROWS})`
    return count
  },

  // What a worker is sending right now waits for the next step.
  deliveries: async (tx, id) => {
    const rows = await tx<{ delivery_id: string }[]>`
      select own.delivery_id from webhook_endpoint as endpoint cross join lateral (
        (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
          and state = 'pending' and claim_id is null limit ${STEP_ROWS})
        union all (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
          and state = 'delivered' limit ${STEP_ROWS})
        union all (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
          and state in ('failed', 'dead') limit ${STEP_ROWS})) as own
      where endpoint.organization_id = ${id} limit ${STEP_ROWS}`
    const ids = rows.map(({ delivery_id }) => delivery_id)
    // A replay may stay for the next step: it must not refer to what goes in this one.
    await tx`update delivery set replay_of = null where replay_of = any(${ids})`
    await tx`
      delete from delivery where delivery_id = any(${ids}) and (state <> 'pending' or claim_id is null)`
    return ids.length
  },

  // The row stays: a foreign key from every delivery of the exchange points to this table.
  endpoints: async (tx, id, now) => {
    const { count } = await tx`
      update webhook_endpoint set status = 'deleted', status_reason = 'organization ended', url = '',
        updated_at = ${now}
      where webhook_endpoint_id in (
        select webhook_endpoint_id from webhook_endpoint where organization_id = ${id} and url <> ''
        limit ${STEP_ROWS})`
    return count
  },

  notifications: async (tx, id) => {
    const [gone] = await tx<{ count: number; last: number | null }[]>`
      with gone as (
        delete from notification where organization_id = ${id} and sequence in (
          select sequence from notification where organization_id = ${id} order by sequence limit ${STEP_ROWS})
        returning sequence, notification_id),
      acknowledged as (
        delete from notification_acknowledgement using gone
        where notification_acknowledgement.notification_id = gone.notification_id)
      select count(*) as count, max(sequence) as last from gone`
    const { count = 0, last = null } = gone ?? {}
    if (last !== null)
      await tx`
        update notification_stream set first_retained = greatest(first_retained, ${last + 1})
        where organization_id = ${id}`
    return count
  },

  idempotency_records: async (tx, id) => {
    const { count } = await tx`
      delete from idempotency_record where ctid = any(array(
        select ctid from idempotency_record where organization_id = ${id} limit ${STEP_ROWS}))`
    return count
  },

  contact: async (tx, id) => {
    const { count } = await tx`
      update organization set contact = null where organization_id = ${id} and contact is not null`
    return count
  },
}

export async function hasPendingDeliveries(tx: Transaction, organizationId: string): Promise<boolean> {
  const rows = await tx`
    select from webhook_endpoint as endpoint cross join lateral (
      select from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id and state = 'pending'
      limit 1) as pending
    where endpoint.organization_id = ${organizationId} limit 1`
  return rows.length > 0
}
