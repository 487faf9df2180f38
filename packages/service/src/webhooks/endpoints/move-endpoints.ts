import {
  type Database,
  fragment,
  inTransaction,
  type Queries,
  type Transaction,
} from '@agent-exchange/database'
import type { WebhookKeys } from '../../platform-keys/webhook-keys.ts'
import { appendToLog } from '../../features/operators/operator-log-store.ts'

const STEP_ENDPOINTS = 1_000
const MAXIMUM_STEPS = 100

/** How many endpoints each key signs for. */
export async function countEndpointsByKey(db: Queries): Promise<Map<string, number>> {
  const rows = await db<{ signing_key_id: string; count: number }[]>`
    select signing_key_id, count(*) as count from webhook_endpoint where status <> 'deleted'
    group by signing_key_id`
  return new Map(rows.map(({ signing_key_id, count }) => [signing_key_id, count]))
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

/**
 * EVT-13: once a new key may sign, endpoints move to it. Until then each keeps the key that it was given. Run it
 * every minute or so; a key that has ended is never used in between, since whoever signs looks at its time.
 */
export async function moveToCurrentKey(
  db: Database,
  webhookKeys: Pick<WebhookKeys, 'currentKeyId'>,
  now: string,
): Promise<number> {
  let total = 0
  for (let step = 0; step < MAXIMUM_STEPS; step++) {
    const moved = await inTransaction(db, async (tx) => {
      const target = await webhookKeys.currentKeyId(tx, now)
      const count = await moveEndpoints(tx, { to: target, limit: STEP_ENDPOINTS })
      const entry = { actor: 'service', action: 'keys.move_endpoints', target, reason: 'it may sign now' }
      if (count > 0) await appendToLog(tx, { ...entry, details: { moved_endpoints: count }, now })
      return count
    })
    total += moved
    if (moved < STEP_ENDPOINTS) break
  }
  return total
}
