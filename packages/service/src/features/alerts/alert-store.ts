import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import {
  ALERT_COLUMNS,
  mayBeMailed,
  OF_ENDPOINT,
  OF_ORGANIZATION,
  type AlertKind,
  type AlertRow,
  type MailOrder,
  type MailPace,
} from './alert-queries.ts'

/** The owner of the table alert. */

export interface NewAlert {
  /** None for alerts about the transparency log, certificates and keys. */
  readonly endpointId?: string
  readonly organizationId: string
  /** The delivery that brought it about; none where an operator disabled the endpoint. */
  readonly deliveryId?: string | undefined
  readonly kind: AlertKind
  /** One line that says why; shown to operators and to the endpoint's owner. */
  readonly reason: string
  readonly now: string
}

const MAXIMUM_REASON_CHARACTERS = 500

/** EVT-08, O-19: recorded in the transaction of its cause, and once for each delivery and kind. */
export async function raiseAlert(tx: Transaction, alert: NewAlert): Promise<void> {
  await raiseAlerts(tx, [alert])
}

/** Many in one statement. */
export async function raiseAlerts(tx: Transaction, alerts: readonly NewAlert[]): Promise<void> {
  if (alerts.length === 0) return
  const rows = alerts.map((alert) => ({
    organization_id: alert.organizationId,
    webhook_endpoint_id: alert.endpointId ?? null,
    delivery_id: alert.deliveryId ?? null,
    kind: alert.kind,
    reason: alert.reason.slice(0, MAXIMUM_REASON_CHARACTERS),
    raised_at: alert.now,
  }))
  await tx`
    insert into alert
      (organization_id, webhook_endpoint_id, delivery_id, kind, reason, raised_at, mail_state, mail_next_at)
    select organization_id, webhook_endpoint_id, delivery_id, kind, reason, raised_at, 'new', raised_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      organization_id text, webhook_endpoint_id text, delivery_id text, kind text, reason text,
      raised_at timestamptz)
    on conflict (delivery_id, kind) do nothing`
}

/** Takes alerts that nobody has logged yet, and says what becomes of their mail. */
export async function takeNew(
  tx: Transaction,
  { mail, limit }: { mail: boolean; limit: number },
): Promise<AlertRow[]> {
  const rows = await tx<AlertRow[]>`
    update alert set mail_state = case
      when not ${mail} then 'off' when organization.contact is null then 'no_contact' else 'waiting' end
    from organization
    where organization.organization_id = alert.organization_id and alert_id in (
      select alert_id from alert where mail_state = 'new' order by alert_id limit ${limit} for update skip locked)
    returning alert_id, raised_at, alert.organization_id, webhook_endpoint_id, delivery_id, kind, reason, mail_state,
      mail_tries, mailed_at, mail_error`
  return rows.toSorted((a, b) => a.alert_id - b.alert_id)
}

/**
 * The alerts of one mail, the oldest first; counted as tried before it is sent, so that tries have an end. It looks
 * once more, now that the row is held: another process may have been here since it was chosen.
 */
export async function claimAlerts(tx: Transaction, order: MailOrder, pace: MailPace): Promise<AlertRow[]> {
  const those =
    order.webhook_endpoint_id === null
      ? fragment`
          join organization using (organization_id)
          where organization_id = ${order.organization_id} and webhook_endpoint_id is null
            and ${mayBeMailed(OF_ORGANIZATION, pace)}`
      : fragment`
          join webhook_endpoint as endpoint using (webhook_endpoint_id)
          where webhook_endpoint_id = ${order.webhook_endpoint_id} and ${mayBeMailed(OF_ENDPOINT, pace)}`
  const rows = await tx<AlertRow[]>`
    update alert set mail_tries = mail_tries + 1, mail_next_at = ${pace.leasedUntil}
    where alert_id in (
      select alert_id from alert ${those} and mail_state = 'waiting'
      order by alert_id limit ${pace.limit})
    returning ${ALERT_COLUMNS}`
  return rows.toSorted((a, b) => a.alert_id - b.alert_id)
}

export async function markMailed(db: Queries, alerts: readonly AlertRow[], now: string): Promise<void> {
  await db`
    update alert set mail_state = 'sent', mailed_at = ${now}, mail_error = null
    where alert_id = any(${idsOf(alerts)}::text[]::bigint[])`
}

/** To be tried again at the given time, or given up where there is none. */
export async function markNotMailed(
  db: Queries,
  alerts: readonly AlertRow[],
  { error, nextAt }: { error: string; nextAt: (tries: number) => string | undefined },
): Promise<void> {
  for (const tries of new Set(alerts.map(({ mail_tries }) => mail_tries))) {
    const ids = idsOf(alerts.filter(({ mail_tries }) => mail_tries === tries))
    const next = nextAt(tries)
    await db`
      update alert set mail_error = ${error}, mail_state = ${next === undefined ? 'failed' : 'waiting'},
        mail_next_at = coalesce(${next ?? null}, mail_next_at)
      where alert_id = any(${ids}::text[]::bigint[])`
  }
}

function idsOf(alerts: readonly AlertRow[]): string[] {
  return alerts.map(({ alert_id }) => String(alert_id))
}

/** At most `limit` of them. @returns the number of rows */
export async function removeAlertsOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const { count } = await tx`
    delete from alert where alert_id in (
      select alert_id from alert where organization_id = ${organizationId} limit ${limit})`
  return count
}

/** At most `limit` of those raised before a time. @returns the number of rows */
export async function removeOldAlerts(tx: Transaction, before: string, limit: number): Promise<number> {
  const { count } = await tx`
    delete from alert where alert_id in (
      select alert_id from alert where raised_at < ${before} order by raised_at limit ${limit}
      for update skip locked)`
  return count
}
