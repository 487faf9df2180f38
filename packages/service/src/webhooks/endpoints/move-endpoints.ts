import { type Database, inTransaction } from '@agent-exchange/database'
import type { WebhookKeys } from '../../platform-keys/webhook-keys.ts'
import { appendToLog } from '../../features/operators/operator-log-store.ts'
import { moveEndpoints } from './endpoint-store.ts'

const STEP_ENDPOINTS = 1_000
const MAXIMUM_STEPS = 100

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
