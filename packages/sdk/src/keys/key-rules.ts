import { jwkThumbprint, type KeyUse, type PublicJwk } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import type { KeyRole, KeyStage, NewKey, OwnKey } from './key-store.ts'

/** A client's assertions are signatures like any other. */
export function useOf(role: KeyRole): KeyUse {
  return role === 'encryption' ? 'encryption' : 'signing'
}

/** Named by its thumbprint (RFC 7638): unique, and the same wherever it is computed. */
async function thumbprintName(publicJwk: PublicJwk): Promise<string> {
  return `key_${await jwkThumbprint(publicJwk)}`
}

/** The public side of a new pair, once it has its name. */
export async function describeKey(key: NewKey, publicJwk: PublicJwk): Promise<OwnKey> {
  const { role, stage, createdAt, replaces, nameOf = thumbprintName } = key
  const keyId = await nameOf(publicJwk)
  return { keyId, role, stage, publicJwk, createdAt, ...(replaces !== undefined && { replaces }) }
}

/** The keys with one more, or `key_already_made` where its place is taken. */
export function withKey<K extends OwnKey>(keys: readonly K[], key: K): readonly K[] {
  const isTaken = keys.some(({ keyId }) => keyId === key.keyId)
  if (isTaken) throw new ExchangeError('key_already_made', { details: { keyId: key.keyId } })
  return requireOneEach([...keys, key])
}

/** The keys at their new stages, all or none. */
export function withStages<K extends OwnKey>(
  keys: readonly K[],
  stages: Readonly<Record<string, KeyStage>>,
): readonly K[] {
  for (const keyId of Object.keys(stages)) {
    if (!keys.some((key) => key.keyId === keyId)) throw missing(keyId)
  }
  return requireOneEach(keys.map((key) => ({ ...key, stage: stages[key.keyId] ?? key.stage })))
}

export function missing(keyId: string): ExchangeError {
  return new ExchangeError('key_missing', { details: { keyId } })
}

/** A role has one current key and one next key at most; two would leave it open which one counts. */
function requireOneEach<K extends OwnKey>(keys: readonly K[]): readonly K[] {
  const places = keys.filter(({ stage }) => stage !== 'previous').map(({ role, stage }) => `${role} ${stage}`)
  const twice = places.find((place, index) => places.indexOf(place) !== index)
  if (twice === undefined) return keys
  throw new ExchangeError('key_already_made', { details: { place: twice } })
}
