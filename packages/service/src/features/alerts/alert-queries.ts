import { fragment, type Fragment, type Queries, type Transaction } from '@agent-exchange/database'

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

export const ALERT_COLUMNS = fragment`
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
    select ${ALERT_COLUMNS} from alert
    where true ${organizationId === undefined ? fragment`` : fragment`and organization_id = ${organizationId}`}
      ${endpointId === undefined ? fragment`` : fragment`and webhook_endpoint_id = ${endpointId}`}
      ${kind === undefined ? fragment`` : fragment`and kind = ${kind}`}
      ${before === undefined ? fragment`` : fragment`and alert_id < ${before}`}
    order by alert_id desc limit ${limit}`
}

/** One mail about an endpoint. */
export interface EndpointMailOrder {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly contact: string
  readonly url: string
  readonly status: string
  readonly status_reason: string | null
}

/** One mail about what an organization has besides endpoints: certificates, or the exchange itself. */
export interface OrganizationMailOrder {
  readonly webhook_endpoint_id: null
  readonly organization_id: string
  readonly contact: string
}

export type MailOrder = EndpointMailOrder | OrganizationMailOrder

export interface MailPace {
  readonly now: string
  /** An endpoint or organization that had a mail after this waits. */
  readonly quietSince: string
  /** Until then the mail is ours alone; afterwards it may be tried again. */
  readonly leasedUntil: string
  readonly limit: number
}

/** The alerts that one mail tells of, beside a row of `endpoint` or `organization`. */
export const OF_ENDPOINT = fragment`alert.webhook_endpoint_id = endpoint.webhook_endpoint_id`
export const OF_ORGANIZATION = fragment`
  alert.organization_id = organization.organization_id and alert.webhook_endpoint_id is null`

/** None of these is being sent or waits for another try, and the last mail is long enough ago. */
export const mayBeMailed = (these: Fragment, { now, quietSince }: MailPace) => fragment`
  not exists (
    select from alert where ${these} and mail_state = 'waiting' and mail_tries > 0 and mail_next_at > ${now})
  and not exists (select from alert where ${these} and mail_state = 'sent' and mailed_at > ${quietSince})`

/** Whom to write to now. The row of the endpoint or organization is held, so that of several processes one goes on. */
export async function nextMail(tx: Transaction, pace: MailPace): Promise<MailOrder | undefined> {
  return (await nextEndpointMail(tx, pace)) ?? (await nextOrganizationMail(tx, pace))
}

async function nextEndpointMail(tx: Transaction, pace: MailPace): Promise<EndpointMailOrder | undefined> {
  const [order] = await tx<EndpointMailOrder[]>`
    select webhook_endpoint_id, organization_id, contact, url, endpoint.status, endpoint.status_reason
    from webhook_endpoint as endpoint join organization using (organization_id)
    where contact is not null
      and webhook_endpoint_id in (
        select webhook_endpoint_id from alert where mail_state = 'waiting' and mail_next_at <= ${pace.now})
      and ${mayBeMailed(OF_ENDPOINT, pace)}
    order by webhook_endpoint_id limit 1 for no key update of endpoint skip locked`
  return order
}

async function nextOrganizationMail(
  tx: Transaction,
  pace: MailPace,
): Promise<OrganizationMailOrder | undefined> {
  const [order] = await tx<OrganizationMailOrder[]>`
    select null as webhook_endpoint_id, organization_id, contact from organization
    where contact is not null
      and organization_id in (
        select organization_id from alert
        where webhook_endpoint_id is null and mail_state = 'waiting' and mail_next_at <= ${pace.now})
      and ${mayBeMailed(OF_ORGANIZATION, pace)}
    order by organization_id limit 1 for no key update skip locked`
  return order
}
