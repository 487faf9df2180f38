import type { Transaction } from '../../db/database.ts'
import { holdStream, lockEndpoint, markDisabled } from '../deliveries/endpoint-queries.ts'

/**
 * EVT-08: no more deliveries to it until an operator enables it; what it misses stays in the stream. Returns whether
 * this call did it, and nobody before.
 */
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

/** O-45: each has answered with 2xx for the first time, and gets as many requests as others from now on. */
export async function markAnswered(
  tx: Transaction,
  answers: readonly { readonly endpointId: string; readonly finishedAt: string }[],
): Promise<void> {
  // One after the other in one order, so that two workers cannot wait for each other.
  const byId = new Map(answers.map(({ endpointId, finishedAt }) => [endpointId, finishedAt]))
  for (const endpointId of [...byId.keys()].toSorted()) {
    await tx`
      update webhook_endpoint set answered_at = ${byId.get(endpointId) ?? null}
      where webhook_endpoint_id = ${endpointId} and answered_at is null`
  }
}

/** EVT-13: from one signing key to another, unless somebody has moved it meanwhile. */
export async function moveEndpointKey(
  tx: Transaction,
  endpointId: string,
  { from, to, now }: { from: string; to: string; now: string },
): Promise<void> {
  await tx`
    update webhook_endpoint set signing_key_id = ${to}, updated_at = ${now}
    where webhook_endpoint_id = ${endpointId} and signing_key_id = ${from}`
}
