import { change, input, optionalReason, read, type Route } from '../route.ts'

export const keyRoutes: readonly Route[] = [
  read('/keys', input({}), ({ webhookKeys, now }, db) => webhookKeys.directory(db, now)),

  // Published at once; it signs once receivers had the time to see it (O-38).
  change('/keys/rotate', { body: input({ reason: optionalReason }) }, async ({ webhookKeys, now }, tx) => {
    const key = await webhookKeys.rotate(tx, now)
    const { key_id: target, valid_from } = key
    return { answer: key, action: 'keys.rotate', target, details: { valid_from } }
  }),
]
