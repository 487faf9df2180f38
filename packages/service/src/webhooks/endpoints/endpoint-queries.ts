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

export const ENDPOINT_COLUMNS = fragment`
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
    select ${ENDPOINT_COLUMNS} from webhook_endpoint
    where webhook_endpoint_id > ${after ?? ''}
      ${organizationId === undefined ? fragment`` : fragment`and organization_id = ${organizationId}`}
      ${status === undefined ? fragment`` : fragment`and status = ${status}`}
    order by webhook_endpoint_id limit ${limit}`
}

export async function findEndpoint(db: Queries, id: string): Promise<EndpointRow | undefined> {
  const [row] = await db<EndpointRow[]>`
    select ${ENDPOINT_COLUMNS} from webhook_endpoint where webhook_endpoint_id = ${id}`
  return row
}

/** Held against other changes of it, not against deliveries that refer to it. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    select ${ENDPOINT_COLUMNS} from webhook_endpoint where webhook_endpoint_id = ${id} for no key update`
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

/** Whether deliveries to an endpoint fail, and since when. */
export interface EndpointHealth {
  /** The first failed attempt after the last 2xx response. */
  readonly failing_since: string | null
  readonly last_error: string | null
  readonly failure_alerted_at: string | null
  /** When the last alert about a permanently failed delivery was raised. */
  readonly failed_alerted_at: string | null
}

/** By endpoint, locked in sorted order until the end of the transaction. */
export async function lockHealth(
  tx: Transaction,
  endpointIds: readonly string[],
): Promise<Map<string, EndpointHealth>> {
  const rows = await tx<(EndpointHealth & { webhook_endpoint_id: string })[]>`
    select webhook_endpoint_id, failing_since, last_error, failure_alerted_at, failed_alerted_at
    from webhook_endpoint where webhook_endpoint_id = any(${[...endpointIds]})
    order by webhook_endpoint_id for no key update`
  return new Map(rows.map(({ webhook_endpoint_id, ...health }) => [webhook_endpoint_id, health]))
}

/** The reason of an endpoint that was disabled by the answer 410. */
export const GONE_REASON = 'the receiver answered 410 Gone'

/**
 * O-13. An endpoint that answered 410 does not count against the quota: its owner gave it up, and the agent API has no
 * operation that deletes it.
 */
export async function countEndpoints(
  db: Queries,
  organizationId: string,
): Promise<{ counted: number; all: number }> {
  const [row] = await db<{ counted: number; all: number }[]>`
    select count(*) filter (where status = 'active' or status_reason is distinct from ${GONE_REASON}) as counted,
      count(*) as all
    from webhook_endpoint where organization_id = ${organizationId} and status <> 'deleted'`
  return row ?? { counted: 0, all: 0 }
}

/** How many endpoints each key signs for. */
export async function countEndpointsByKey(db: Queries): Promise<Map<string, number>> {
  const rows = await db<{ signing_key_id: string; count: number }[]>`
    select signing_key_id, count(*) as count from webhook_endpoint where status <> 'deleted'
    group by signing_key_id`
  return new Map(rows.map(({ signing_key_id, count }) => [signing_key_id, count]))
}
