import type { Transaction } from '@agent-exchange/database'
import { holdStream, lockEndpoint, markDisabled } from './endpoint-queries.ts'

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
