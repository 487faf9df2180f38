import { fragment, type Queries, type Transaction } from '../../db/database.ts'
import type { AlertKind } from './raise-alert.ts'

export type MailState = 'new' | 'waiting' | 'sent' | 'failed' | 'off' | 'no_contact'

/** Table alert. */
export interface AlertRow {
  readonly alert_id: number
  readonly raised_at: string
  readonly organization_id: string
  readonly webhook_endpoint_id: string | null
  readonly delivery_id: string | null
  readonly kind: AlertKind
  readonly reason: string
  readonly mail_state: MailState
  readonly mail_tries: number
  readonly mailed_at: string | null
  readonly mail_error: string | null
}

const COLUMNS = fragment`
  alert_id, raised_at, organization_id, webhook_endpoint_id, delivery_id, kind, reason, mail_state, mail_tries,
  mailed_at, mail_error`

interface AlertFilter {
  readonly organizationId: string | undefined
  readonly endpointId: string | undefined
  readonly kind: AlertKind | undefined
  readonly before: number | undefined
  readonly limit: number
}

/** The newest first. */
export async function listAlerts(
  db: Queries,
  { organizationId, endpointId, kind, before, limit }: AlertFilter,
): Promise<AlertRow[]> {
  return db<AlertRow[]>`
    select ${COLUMNS} from alert
    where true ${organizationId === undefined ? fragment`` : fragment`and organization_id = ${organizationId}`}
      ${endpointId === undefined ? fragment`` : fragment`and webhook_endpoint_id = ${endpointId}`}
      ${kind === undefined ? fragment`` : fragment`and kind = ${kind}`}
      ${before === undefined ? fragment`` : fragment`and alert_id < ${before}`}
    order by alert_id desc limit ${limit}`
}

/** Takes alerts that nobody has logged yet, and says what becomes of their mail. */
export async function takeNew(
  tx: Transaction,
  { mail, limit }: { mail: boolean; limit: number },
): Promise<AlertRow[]> {
  const rows = await tx<AlertRow[]>`
    update alert set mail_state = case
      when not ${mail} or webhook_endpoint_id is null then 'off' when organization.contact is null then 'no_contact' else 'waiting' end
    from organization
    where organization.organization_id = alert.organization_id and alert_id in (
      select alert_id from alert where mail_state = 'new' order by alert_id limit ${limit} for update skip locked)
    returning alert_id, raised_at, alert.organization_id, webhook_endpoint_id, delivery_id, kind, reason, mail_state,
      mail_tries, mailed_at, mail_error`
  return rows.toSorted((a, b) => a.alert_id - b.alert_id)
}

/** One mail: to whom, about which endpoint. */
export interface MailOrder {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly contact: string
  readonly url: string
  readonly status: string
  readonly status_reason: string | null
}

export interface MailPace {
  readonly now: string
  /** An endpoint that had a mail after this waits. */
  readonly quietSince: string
  /** Until then the mail is ours alone; afterwards it may be tried again. */
  readonly leasedUntil: string
  readonly limit: number
}

/** Of `endpoint`: nothing about it is being sent or waits for another try, and its last mail is long enough ago. */
const mayBeMailed = ({ now, quietSince }: MailPace) => fragment`
  not exists (
    select from alert where alert.webhook_endpoint_id = endpoint.webhook_endpoint_id
      and mail_state = 'waiting' and mail_tries > 0 and mail_next_at > ${now})
  and not exists (
    select from alert where alert.webhook_endpoint_id = endpoint.webhook_endpoint_id
      and mail_state = 'sent' and mailed_at > ${quietSince})`

/** An endpoint whose owner is to be written to now. Its row is held, so that of several processes one goes on. */
export async function nextMail(tx: Transaction, pace: MailPace): Promise<MailOrder | undefined> {
  const [order] = await tx<MailOrder[]>`
    select webhook_endpoint_id, organization_id, contact, url, endpoint.status, endpoint.status_reason
    from webhook_endpoint as endpoint join organization using (organization_id)
    where contact is not null
      and webhook_endpoint_id in (
        select webhook_endpoint_id from alert where mail_state = 'waiting' and mail_next_at <= ${pace.now})
      and ${mayBeMailed(pace)}
    order by webhook_endpoint_id limit 1 for no key update of endpoint skip locked`
  return order
}

/**
 * The alerts of one mail, the oldest first; counted as tried before it is sent, so that tries have an end. It looks
 * once more, now that the endpoint is held: another process may have been here since it was chosen.
 */
export async function claimAlerts(tx: Transaction, endpointId: string, pace: MailPace): Promise<AlertRow[]> {
  const rows = await tx<AlertRow[]>`
    update alert set mail_tries = mail_tries + 1, mail_next_at = ${pace.leasedUntil}
    where alert_id in (
      select alert_id from alert join webhook_endpoint as endpoint using (webhook_endpoint_id)
      where webhook_endpoint_id = ${endpointId} and mail_state = 'waiting' and ${mayBeMailed(pace)}
      order by alert_id limit ${pace.limit})
    returning ${COLUMNS}`
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
