import { countEndpointsByKey, moveEndpoints } from '../../features/deliveries/move-endpoints.ts'
import { Problem } from '../../kernel/problem.ts'
import { change, input, optionalReason, read, reason, type Route } from '../route.ts'

export const keyRoutes: readonly Route[] = [
  // The directory that agents see, and beside it the keys that have left it.
  read('/keys', input({}), async ({ webhookKeys, now }, db) => {
    const [{ directory_version, generated_at }, keys, counts] = await Promise.all([
      webhookKeys.directory(db, now),
      webhookKeys.list(db),
      countEndpointsByKey(db),
    ])
    return {
      directory_version,
      generated_at,
      keys: keys.map((key) => ({ ...key, endpoints: counts.get(key.key_id) ?? 0 })),
    }
  }),

  // Published at once; it signs once receivers had the time to see it (O-38).
  change('/keys/rotate', { body: input({ reason: optionalReason }) }, async ({ webhookKeys, now }, tx) => {
    const key = await webhookKeys.rotate(tx, now)
    const { key_id: target, valid_from } = key
    return { answer: key, action: 'keys.rotate', target, details: { valid_from } }
  }),

  change('/keys/:key_id/revoke', { body: input({ reason }) }, async ({ webhookKeys, params, now }, tx) => {
    const target = params['key_id'] ?? ''
    const key = await webhookKeys.revoke(tx, target, now)
    if (!key) throw await whyNot(target, () => webhookKeys.list(tx))
    const replacement = await webhookKeys.currentKeyId(tx, now)
    const moved = await moveEndpoints(tx, { from: target, to: replacement })
    const details = { replacement_key_id: replacement, moved_endpoints: moved }
    return { answer: { ...key, ...details }, action: 'keys.revoke', target, details }
  }),
]

async function whyNot(keyId: string, list: () => Promise<{ key_id: string; status: string }[]>) {
  const key = (await list()).find((each) => each.key_id === keyId)
  if (!key) return new Problem('resource_not_found')
  const state = key.status === 'revoked' ? 'revoked' : 'retired'
  return new Problem('invalid_state_transition', { state })
}
