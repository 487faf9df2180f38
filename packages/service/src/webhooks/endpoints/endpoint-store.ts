import { fragment, type Fragment, type Transaction } from '@agent-exchange/database'
import {
  ENDPOINT_COLUMNS,
  holdStream,
  lockEndpoint,
  type EndpointHealth,
  type EndpointRow,
} from './endpoint-queries.ts'

/** The owner of the table webhook_endpoint. */

export interface NewEndpoint {
  readonly endpointId: string
  readonly organizationId: string
  readonly url: string
  readonly event_types: readonly string[]
  readonly signingKeyId: string
  readonly now: string
}

export async function insertEndpoint(tx: Transaction, endpoint: NewEndpoint): Promise<void> {
  const { endpointId, organizationId, url, event_types, signingKeyId, now } = endpoint
  await tx`
    insert into webhook_endpoint
      (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at)
    values (${endpointId}, ${organizationId}, ${url}, ${[...event_types]}, ${signingKeyId}, 'active', ${now}, ${now})`
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
    where webhook_endpoint_id = ${id} returning ${ENDPOINT_COLUMNS}`
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
    where webhook_endpoint_id = ${id} returning ${ENDPOINT_COLUMNS}`
  return row
}

export async function markDeleted(
  tx: Transaction,
  id: string,
  { reason, now }: Omit<StatusChange, 'lastSequence'>,
): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    update webhook_endpoint set status = 'deleted', status_reason = ${reason}, updated_at = ${now}
    where webhook_endpoint_id = ${id} returning ${ENDPOINT_COLUMNS}`
  return row
}

/** Nothing is missing any more. */
export async function forgetMissed(tx: Transaction, id: string): Promise<void> {
  await tx`
    update webhook_endpoint
    set disabled_at = null, enabled_at = null, missed_after = null, missed_until = null
    where webhook_endpoint_id = ${id} and status = 'active'`
}

/** EVT-08: disables an endpoint until an operator enables it. Returns false if it was not active. */
export async function disableEndpoint(
  tx: Transaction,
  endpointId: string,
  reason: string,
  now: string,
): Promise<boolean> {
  const [endpoint] = await tx<{ organization_id: string }[]>`
    select organization_id from webhook_endpoint where webhook_endpoint_id = ${endpointId}`
  if (!endpoint) return false
  const lastSequence = await holdStream(tx, endpoint.organization_id)
  const locked = await lockEndpoint(tx, endpointId)
  if (locked?.status !== 'active') return false
  await markDisabled(tx, endpointId, { reason, now, lastSequence })
  return true
}

/** O-45: part of the statement that claims, for endpoints of `due` that never answered. */
export const markTried = (now: string): Fragment => fragment`update webhook_endpoint set tried_at = ${now}
      where webhook_endpoint_id = any(array(select webhook_endpoint_id from due where not has_answered))`

/** O-45: records the first 2xx response of each endpoint, which lifts its pacing. */
export async function markAnswered(
  tx: Transaction,
  answers: readonly { readonly endpointId: string; readonly finishedAt: string }[],
): Promise<void> {
  // In sorted order, so that concurrent workers cannot deadlock.
  const byId = new Map(answers.map(({ endpointId, finishedAt }) => [endpointId, finishedAt]))
  for (const endpointId of [...byId.keys()].toSorted()) {
    await tx`
      update webhook_endpoint set answered_at = ${byId.get(endpointId) ?? null}
      where webhook_endpoint_id = ${endpointId} and answered_at is null`
  }
}

/** EVT-13: changes the signing key of an endpoint unless it has already changed. */
export async function moveEndpointKey(
  tx: Transaction,
  endpointId: string,
  { from, to, now }: { from: string; to: string; now: string },
): Promise<void> {
  await tx`
    update webhook_endpoint set signing_key_id = ${to}, updated_at = ${now}
    where webhook_endpoint_id = ${endpointId} and signing_key_id = ${from}`
}

/** At once, from one key, or from every other one in steps. */
export async function moveEndpoints(
  tx: Transaction,
  { from, to, limit }: { from?: string; to: string; limit?: number },
): Promise<number> {
  const { count } = await tx`
    update webhook_endpoint set signing_key_id = ${to}
    where webhook_endpoint_id in (
      select webhook_endpoint_id from webhook_endpoint
      where status <> 'deleted' and ${from === undefined ? fragment`signing_key_id <> ${to}` : fragment`signing_key_id = ${from}`}
      order by webhook_endpoint_id ${limit === undefined ? fragment`` : fragment`limit ${limit}`} for no key update)`
  return count
}

export async function saveHealth(
  tx: Transaction,
  healths: ReadonlyMap<string, EndpointHealth>,
): Promise<void> {
  if (healths.size === 0) return
  const rows = [...healths].map(([webhook_endpoint_id, health]) => ({ webhook_endpoint_id, ...health }))
  await tx`
    update webhook_endpoint as endpoint set failing_since = row.failing_since, last_error = row.last_error,
      failure_alerted_at = row.failure_alerted_at, failed_alerted_at = row.failed_alerted_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      webhook_endpoint_id text, failing_since timestamptz, last_error text, failure_alerted_at timestamptz,
      failed_alerted_at timestamptz)
    where endpoint.webhook_endpoint_id = row.webhook_endpoint_id`
}

/**
 * At most `limit` of them. The rows stay without an address: a foreign key from every delivery of the exchange points to
 * this table. @returns the number of rows
 */
export async function removeEndpointsOf(
  tx: Transaction,
  organizationId: string,
  { now, limit }: { now: string; limit: number },
): Promise<number> {
  const { count } = await tx`
    update webhook_endpoint set status = 'deleted', status_reason = 'organization ended', url = '',
      updated_at = ${now}
    where webhook_endpoint_id in (
      select webhook_endpoint_id from webhook_endpoint where organization_id = ${organizationId} and url <> ''
      limit ${limit})`
  return count
}
