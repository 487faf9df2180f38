import type { SigningKey } from '@agent-exchange/crypto'
import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { moveEndpointKey } from '../features/notifications/endpoint-store.ts'
import type { Clock } from '../kernel/clock.ts'
import type { WebhookKeys } from '../kernel/platform-keys-webhook.ts'
import { KEY_FRESH_MS } from './limits.ts'

const MAXIMUM_REMEMBERED_KEYS = 100

export type KeyFor = (endpoint: {
  webhook_endpoint_id: string
  signing_key_id: string
}) => Promise<SigningKey>

/**
 * EVT-13: the endpoint's own key. Endpoints are moved when keys are rotated; one that was left with a key that has
 * ended or was revoked is moved here, to the current key, rather than signed for with a key that receivers refuse.
 */
export function endpointKeys(
  db: Database,
  webhookKeys: Pick<WebhookKeys, 'signingKey' | 'currentKeyId'>,
  clock: Clock,
): KeyFor {
  // Whether a key may sign is asked about once a second, and not for every delivery.
  const asked = new LRUCache<string, { at: number; key: Promise<SigningKey | undefined> }>({
    max: MAXIMUM_REMEMBERED_KEYS,
  })

  function usable(keyId: string): Promise<SigningKey | undefined> {
    const at = clock.monotonicMilliseconds()
    const known = asked.get(keyId)
    if (known && at - known.at < KEY_FRESH_MS) return known.key
    const key = webhookKeys.signingKey(db, keyId, clock.now())
    asked.set(keyId, { at, key })
    key.catch(() => asked.delete(keyId))
    return key
  }

  return async ({ webhook_endpoint_id, signing_key_id }) => {
    const own = await usable(signing_key_id)
    if (own) return own
    const now = clock.now()
    const current = await webhookKeys.currentKeyId(db, now)
    const key = await usable(current)
    if (!key) throw new Error('no webhook key may sign now')
    await db.begin((tx) =>
      moveEndpointKey(tx, webhook_endpoint_id, { from: signing_key_id, to: current, now }),
    )
    return key
  }
}
