import { fragment, type Queries, type Transaction } from '@agent-exchange/database'

export type EndpointStatus = 'active' | 'disabled' | 'deleted'

/** Table webhook_endpoint, as an operator sees it. Agents register endpoints; operators only move them. */
export interface EndpointRow {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly url: string
  readonly event_types: string[]
  readonly signing_key_id: string
  readonly status: EndpointStatus
  readonly status_reason: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly disabled_at: string | null
  readonly enabled_at: string | null
  /** The first failed attempt after the last 2xx response. */
  readonly failing_since: string | null
  readonly last_error: string | null
  readonly missed_after: number | null
  readonly missed_until: number | null
}

const COLUMNS = fragment`
  webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, status_reason, created_at,
  updated_at, disabled_at, enabled_at, failing_since, last_error, missed_after, missed_until`

interface EndpointFilter {
  readonly organizationId: string | undefined
  readonly status: EndpointStatus | undefined
  readonly after: string | undefined
  readonly limit: number
}

export async function listEndpoints(
  db: Queries,
  { organizationId, status, after, limit }: EndpointFilter,
): Promise<EndpointRow[]> {
  return db<EndpointRow[]>`
    select ${COLUMNS} from webhook_endpoint
    where webhook_endpoint_id > ${after ?? ''}
      ${organizationId === undefined ? fragment`` : fragment`and organization_id = ${organizationId}`}
      ${status === undefined ? fragment`` : fragment`and status = ${status}`}
    order by webhook_endpoint_id limit ${limit}`
}

export async function findEndpoint(db: Queries, id: string): Promise<EndpointRow | undefined> {
  const [row] = await db<EndpointRow[]>`
    select ${COLUMNS} from webhook_endpoint where webhook_endpoint_id = ${id}`
  return row
}

/** Held against other changes of it, not against deliveries that refer to it. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    select ${COLUMNS} from webhook_endpoint where webhook_endpoint_id = ${id} for no key update`
  return row
}

/**
 * The end of the organization's stream, which nobody can lengthen before this transaction ends. To be taken before
 * the endpoint itself, as those who write notifications do: each of them then sees the one status or the other.
 */
export async function holdStream(tx: Transaction, organizationId: string): Promise<number> {
  const [row] = await tx<{ last_sequence: number }[]>`
    select last_sequence from notification_stream where organization_id = ${organizationId} for update`
  return row?.last_sequence ?? 0
}

interface StatusChange {
  readonly reason: string | null
  readonly now: string
  /** The end of the stream. */
  readonly lastSequence: number
}

export async function markEnabled(
  tx: Transaction,
  id: string,
  { now, lastSequence }: Omit<StatusChange, 'reason'>,
): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    update webhook_endpoint set status = 'active', status_reason = null, updated_at = ${now}, enabled_at = ${now},
      missed_until = ${lastSequence}, failing_since = null, last_error = null, failure_alerted_at = null
    where webhook_endpoint_id = ${id} returning ${COLUMNS}`
  return row
}

export async function markDisabled(
  tx: Transaction,
  id: string,
  { reason, now, lastSequence }: StatusChange,
): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    update webhook_endpoint set status = 'disabled', status_reason = ${reason}, updated_at = ${now},
      disabled_at = coalesce(disabled_at, ${now}), enabled_at = null,
      missed_after = coalesce(missed_after, ${lastSequence}), missed_until = null
    where webhook_endpoint_id = ${id} returning ${COLUMNS}`
  return row
}

export async function markDeleted(
  tx: Transaction,
  id: string,
  { reason, now }: Omit<StatusChange, 'lastSequence'>,
): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    update webhook_endpoint set status = 'deleted', status_reason = ${reason}, updated_at = ${now}
    where webhook_endpoint_id = ${id} returning ${COLUMNS}`
  return row
}

/** Nothing is missing any more. */
export async function forgetMissed(tx: Transaction, id: string): Promise<void> {
  await tx`
    update webhook_endpoint
    set disabled_at = null, enabled_at = null, missed_after = null, missed_until = null
    where webhook_endpoint_id = ${id} and status = 'active'`
}
