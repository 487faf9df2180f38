import { jwkThumbprint } from '@agent-exchange/crypto'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { OwnKey } from '../keys/key-store.ts'
import { keyRequest } from './key-request.ts'
import { currentKey, introducedName, keyTime } from './make-keys.ts'

/** The client's key is registered by the operator (`aex client rotate`), so it is not rotated from here. */
export type RotatedRole = 'signing' | 'encryption'

export interface Rotation {
  readonly current: OwnKey
  readonly previous: OwnKey
}

/**
 * Replaces the signing or the encryption key. The current signing key introduces the new key, so peers accept it
 * without confirmation. The store keeps the old key to open and prove earlier packages. Safe to repeat after a crash
 * at any step: no key is created or registered twice.
 *
 * After a compromise this is not enough: revoke the old key, and have peers compare the new fingerprint.
 *
 * @example
 * const { current } = await rotateKey(context, 'encryption')
 */
export async function rotateKey(
  context: AgentContext,
  role: RotatedRole,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Rotation> {
  const { keys, connection, identity } = context
  const current = await currentKey(keys, role)
  const next = await nextKey(context, role, current)
  const options = { path: { agent_id: identity.agentId }, ...(signal && { signal }) }
  const directory = await connection.call('getAgentKeys', options)
  if (!directory.keys.some(({ key_id }) => key_id === next.keyId)) {
    await connection.call('registerAgentKey', {
      ...options,
      body: { ...keyRequest(next, role), replaces_key_id: current.keyId },
      // Derived from the key: two processes that finish one rotation send the same request.
      idempotencyKey: `idem_${await jwkThumbprint(next.publicJwk)}`,
    })
  }
  await keys.setStages({ [current.keyId]: 'previous', [next.keyId]: 'current' })
  return { current: { ...next, stage: 'current' }, previous: { ...current, stage: 'previous' } }
}

/** The key of an unfinished rotation, or a new one. */
async function nextKey(
  { keys, identity, now }: AgentContext,
  role: RotatedRole,
  current: OwnKey,
): Promise<OwnKey> {
  const find = async () => (await keys.list()).find((key) => key.role === role && key.stage === 'next')
  const found = await find()
  if (found) return found
  const introducer = role === 'signing' ? current : await currentKey(keys, 'signing')
  try {
    return await keys.generate({
      role,
      stage: 'next',
      createdAt: keyTime(now()),
      replaces: current.keyId,
      nameOf: introducedName(keys, identity, introducer, role),
    })
  } catch (error) {
    // Another process of the same agent created the key first.
    const theirs =
      error instanceof ExchangeError && error.code === 'key_already_made' ? await find() : undefined
    if (theirs) return theirs
    throw error
  }
}
