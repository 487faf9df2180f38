import type { SigningKey } from '@agent-exchange/crypto'
import { LRUCache } from 'lru-cache'
import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { moveEndpointKey } from '../endpoints/endpoint-store.ts'
import type { WebhookKeys } from '../../platform-keys/webhook-keys.ts'
import { KEY_CACHE_MS, MAXIMUM_CACHED } from './webhook-limits.ts'

export type KeyFor = (endpoint: {
  webhook_endpoint_id: string
  signing_key_id: string
}) => Promise<SigningKey>

/**
 * EVT-13: the endpoint's own key. A rotation moves endpoints to the new key; an endpoint that still has an expired or
 * revoked key is moved here, because receivers would refuse that signature.
 */
export function endpointKeys(
  db: Database,
  webhookKeys: Pick<WebhookKeys, 'signingKey' | 'currentKeyId'>,
  clock: Clock,
): KeyFor {
  // A key's validity is queried once per KEY_CACHE_MS rather than for each delivery.
  const cache = new LRUCache<string, { at: number; key: Promise<SigningKey | undefined> }>({
    max: MAXIMUM_CACHED,
  })

  function usable(keyId: string): Promise<SigningKey | undefined> {
    const at = clock.monotonicMilliseconds()
    const known = cache.get(keyId)
    if (known && at - known.at < KEY_CACHE_MS) return known.key
    const key = webhookKeys.signingKey(db, keyId, clock.now())
    cache.set(keyId, { at, key })
    key.catch(() => cache.delete(keyId))
    return key
  }

  return async ({ webhook_endpoint_id, signing_key_id }) => {
    const own = await usable(signing_key_id)
    if (own) return own
    const now = clock.now()
    const current = await webhookKeys.currentKeyId(db, now)
    const key = await usable(current)
    if (!key) throw new Error('there is no valid webhook signing key')
    await db.begin((tx) =>
      moveEndpointKey(tx, webhook_endpoint_id, { from: signing_key_id, to: current, now }),
    )
    return key
  }
}
