import { Type } from 'typebox'
import type { Queries } from '@agent-exchange/database'
import { countEndpointsByKey } from '../../webhooks/endpoints/endpoint-queries.ts'
import { moveEndpoints } from '../../webhooks/endpoints/endpoint-store.ts'
import { PLATFORM_KEY_PURPOSES, purposeOf, type ListedKey } from '../../platform-keys/key-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { change, input, optionalReason, read, reason, type OperatorCall, type Route } from '../route.ts'

const purpose = Type.Optional(Type.Enum([...PLATFORM_KEY_PURPOSES]))

/** Whoever has the key can still sign under the name of this log, so a revocation alone would help nobody. */
const NEW_ORIGIN = {
  pointer: '/key_id',
  rule: 'O-07',
  message:
    'After a compromise of a log key, start a new log: aex log recover --new-origin NAME --reason TEXT',
}

/** The directory that agents see, plus the keys that are no longer in it. */
export const readPlatformKeys = read(
  '/keys',
  input({ purpose }),
  async ({ input: query, webhookKeys, rotatingKeys, now }, db) => {
    if (query.purpose !== undefined && query.purpose !== 'webhook') {
      const listed: readonly ListedPlatformKey[] = await rotatingKeys[query.purpose].list(db)
      return { purpose: query.purpose, keys: listed }
    }
    const [{ directory_version, generated_at }, keys, counts] = await Promise.all([
      webhookKeys.directory(db, now),
      webhookKeys.list(db),
      countEndpointsByKey(db),
    ])
    return {
      purpose: 'webhook',
      directory_version,
      generated_at,
      keys: keys.map((key): ListedPlatformKey => ({ ...key, endpoints: counts.get(key.key_id) ?? 0 })),
    }
  },
)

/** The new key is published at once and starts signing after the propagation delay (O-38, O-08, O-42). */
export const rotatePlatformKey = change(
  '/keys/rotate',
  { body: input({ reason: optionalReason, purpose }), role: 'administrator' },
  async ({ input: body, webhookKeys, rotatingKeys, now }, tx) => {
    const wanted = body.purpose ?? 'webhook'
    const keys = wanted === 'webhook' ? webhookKeys : rotatingKeys[wanted]
    const key = await keys.rotate(tx, now)
    const { key_id: target, valid_from } = key
    return { answer: key, action: 'keys.rotate', target, details: { purpose: wanted, valid_from } }
  },
)

export const revokePlatformKey = change(
  '/keys/:key_id/revoke',
  { body: input({ reason }), role: 'administrator' },
  async (call, tx) => {
    const { webhookKeys, rotatingKeys, params, now } = call
    const target = params['key_id'] ?? ''
    const keyPurpose = await purposeOf(tx, target)
    if (keyPurpose === 'log') throw new Problem('validation_failed', { failures: [NEW_ORIGIN] })
    if (keyPurpose === 'token' || keyPurpose === 'statement') {
      const key = await rotatingKeys[keyPurpose].revoke(tx, target, now)
      if (!key) throw await revocationProblem(call, rotatingKeys[keyPurpose], tx)
      return { answer: key, action: 'keys.revoke', target, details: { purpose: keyPurpose } }
    }
    const key = await webhookKeys.revoke(tx, target, now)
    if (!key) throw await revocationProblem(call, webhookKeys, tx)
    const replacement = await webhookKeys.currentKeyId(tx, now)
    const moved = await moveEndpoints(tx, { from: target, to: replacement })
    const details = { replacement_key_id: replacement, moved_endpoints: moved }
    return {
      answer: { ...key, ...details },
      action: 'keys.revoke',
      target,
      details: { purpose: 'webhook', ...details },
    }
  },
)

export const keyRoutes: readonly Route[] = [readPlatformKeys, rotatePlatformKey, revokePlatformKey]

/** With the number of webhook endpoints that it signs for. */
type ListedPlatformKey = ListedKey & { readonly endpoints?: number }

interface KeyList {
  list(queries: Queries): Promise<{ key_id: string; status: string }[]>
}

async function revocationProblem(
  { params }: OperatorCall<unknown>,
  keys: KeyList,
  queries: Queries,
): Promise<Problem> {
  const key = (await keys.list(queries)).find((each) => each.key_id === params['key_id'])
  if (!key) return new Problem('resource_not_found')
  const state = key.status === 'revoked' ? 'revoked' : 'retired'
  return new Problem('invalid_state_transition', { state })
}
