import type { Identity } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { KeyRole, KeyStore, NewKey, OwnKey } from '../keys/key-store.ts'
import { introducedKeyId } from '../peers/key-introduction.ts'

/** The three current keys of an agent. */
export type AgentKeys = Readonly<Record<KeyRole, OwnKey>>

export interface KeyMaking {
  readonly identity: Identity
  readonly now: () => Date
}

/**
 * Creates the missing keys of an agent: client, signing and encryption key. The signing key introduces the
 * encryption key, so one fingerprint covers both. Running it again after a crash resumes it.
 *
 * @example
 * const { client, signing } = await makeAgentKeys(keys, { identity, now: () => new Date() })
 * console.log('give this to the operator:', client.publicJwk)
 */
export async function makeAgentKeys(keys: KeyStore, { identity, now }: KeyMaking): Promise<AgentKeys> {
  const made = await keys.list()
  const createdAt = keyTime(now())
  const ensure = async (role: KeyRole, how: Pick<NewKey, 'nameOf'> = {}) =>
    made.find((key) => key.role === role && key.stage === 'current') ??
    (await keys.generate({ role, stage: 'current', createdAt, ...how }))
  const client = await ensure('client')
  const signing = await ensure('signing')
  const encryption = await ensure('encryption', {
    nameOf: introducedName(keys, identity, signing, 'encryption'),
  })
  return { client, signing, encryption }
}

/** Clock skew that a new key tolerates. */
const SKEW_MS = 30_000

/**
 * When a new key counts from: slightly in the past. The exchange judges a signature by its own clock (ID-05), and would
 * refuse the first package of an agent whose clock is ahead.
 */
export function keyTime(now: Date): string {
  return new Date(now.getTime() - SKEW_MS).toISOString()
}

/** Names a key with the introduction by a signing key of the store. */
export function introducedName(
  keys: KeyStore,
  identity: Identity,
  introducer: OwnKey,
  use: 'signing' | 'encryption',
): NonNullable<NewKey['nameOf']> {
  return async (publicJwk) =>
    introducedKeyId(await keys.privateKey(introducer.keyId), { ...identity, use }, publicJwk)
}

/** The current key of a role. */
export async function currentKey(keys: KeyStore, role: KeyRole): Promise<OwnKey> {
  const found = (await keys.list()).find((key) => key.role === role && key.stage === 'current')
  if (!found) throw new ExchangeError('key_missing', { what: `There is no current ${role} key.` })
  return found
}
