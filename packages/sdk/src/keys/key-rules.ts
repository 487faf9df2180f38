import { jwkThumbprint, type KeyUse, type PublicJwk } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import type { KeyRole, KeyStage, NewKey, OwnKey } from './key-store.ts'

/** Client assertions are signatures. */
export function useOf(role: KeyRole): KeyUse {
  return role === 'encryption' ? 'encryption' : 'signing'
}

/** The default key id is the thumbprint (RFC 7638). */
async function thumbprintName(publicJwk: PublicJwk): Promise<string> {
  return `key_${await jwkThumbprint(publicJwk)}`
}

/** The public part of a new key pair, with its id. */
export async function describeKey(key: NewKey, publicJwk: PublicJwk): Promise<OwnKey> {
  const { role, stage, createdAt, replaces, nameOf = thumbprintName } = key
  const keyId = await nameOf(publicJwk)
  return { keyId, role, stage, publicJwk, createdAt, ...(replaces !== undefined && { replaces }) }
}

/** Adds a key; `key_already_made` if its role and stage are taken. */
export function withKey<K extends OwnKey>(keys: readonly K[], key: K): readonly K[] {
  const isTaken = keys.some(({ keyId }) => keyId === key.keyId)
  if (isTaken) throw new ExchangeError('key_already_made', { details: { keyId: key.keyId } })
  return requireOneEach([...keys, key])
}

/** Changes the stages of keys atomically. */
export function withStages<K extends OwnKey>(
  keys: readonly K[],
  stages: Readonly<Record<string, KeyStage>>,
): readonly K[] {
  for (const keyId of Object.keys(stages)) {
    if (!keys.some((key) => key.keyId === keyId)) throw missing(keyId)
  }
  return requireOneEach(keys.map((key) => ({ ...key, stage: stages[key.keyId] ?? key.stage })))
}

/** Notes a revocation of a key, once. */
export function withRevocation<K extends OwnKey>(
  keys: readonly K[],
  keyId: string,
  invalidFrom: string,
): readonly K[] {
  if (!keys.some((key) => key.keyId === keyId)) throw missing(keyId)
  return keys.map((key) =>
    key.keyId === keyId
      ? { ...key, revocations: [...new Set([...(key.revocations ?? []), invalidFrom])] }
      : key,
  )
}

export function missing(keyId: string): ExchangeError {
  return new ExchangeError('key_missing', { details: { keyId } })
}

/** The key exists, and whoever holds it cannot use it now. */
export function unavailable(keyId: string, cause: unknown): ExchangeError {
  return new ExchangeError('key_unavailable', { details: { keyId }, retryable: true, cause })
}

/** A role has at most one current and one next key, so that the key in use is unambiguous. */
function requireOneEach<K extends OwnKey>(keys: readonly K[]): readonly K[] {
  const places = keys.filter(({ stage }) => stage !== 'previous').map(({ role, stage }) => `${role} ${stage}`)
  const twice = places.find((place, index) => places.indexOf(place) !== index)
  if (twice === undefined) return keys
  throw new ExchangeError('key_already_made', { details: { place: twice } })
}
