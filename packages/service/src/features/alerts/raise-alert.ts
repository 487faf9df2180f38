import type { Transaction } from '@agent-exchange/database'

export const ALERT_KINDS = [
  'delivery_dead',
  'delivery_failed',
  'endpoint_disabled',
  'endpoint_failing',
  'log_behind',
  'log_refusing',
  'log_unwitnessed',
  'log_damaged',
  'certificate_expiring',
  'key_expiring',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

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
