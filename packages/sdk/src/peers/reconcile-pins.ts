import { isEarlier } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { findIntroduced } from './find-introduced.ts'
import { endOf } from './key-end.ts'
import { isIndependent } from './key-trust.ts'
import type { PeerPins, PinnedKey } from './peer-directory.ts'
import type { ShownDirectory, ShownKey } from './shown-directory.ts'

/**
 * Compares the directory with the pins, and pins new trusted keys. Throws if the directory contradicts a pin. Returns
 * the same object if nothing changed.
 */
export async function reconcilePins(
  before: PeerPins | undefined,
  shown: ShownDirectory,
  now: string,
): Promise<PeerPins> {
  const pin = pinnerAt(now)
  if (!before || (before.keys.length === 0 && before.expected.length === 0)) {
    return pinsOf(shown, { keys: shown.keys.map((key) => pin(key, 'first-use')), expected: [] })
  }
  requireSameOrganization(before, shown)
  const compared = before.keys.map((pinned) => compare(pinned, shown, now))
  const { keys: trusted, expected } = matchExpected({ ...before, keys: compared }, shown, pin)
  requireFingerprint(trusted, expected, shown)
  const keys = await withIntroduced(trusted, shown, now)
  const isSame =
    before.directoryVersion === shown.version &&
    before.expected.length === expected.length &&
    keys.length === before.keys.length &&
    keys.every((key, index) => key === before.keys[index])
  return isSame ? before : pinsOf(shown, { keys, expected })
}

/**
 * Adds keys that a pinned key introduced. A key that only the operator vouches for introduces signing keys only, and only
 * the operator vouches for those too: otherwise the operator could have content sealed for a key of its own.
 */
async function withIntroduced(
  trusted: readonly PinnedKey[],
  shown: ShownDirectory,
  now: string,
): Promise<readonly PinnedKey[]> {
  const independent = trusted.filter(isIndependent)
  const introduced = await findIntroduced(shown, independent, now)
  const keys = replaced(trusted, introduced, pinnerAt(now), 'introduction')
  const logged = keys.filter(({ by }) => by === 'log')
  if (logged.length === 0) return keys
  const signing = { ...shown, keys: shown.keys.filter(({ entry }) => entry.use === 'signing') }
  const vouched = await findIntroduced(
    signing,
    keys.filter(({ by }) => by !== 'directory'),
    now,
  )
  return replaced(keys, vouched, pinnerAt(now), 'log')
}

/** Pins the found keys in place of earlier pins. The same list if nothing was found. */
function replaced(
  keys: readonly PinnedKey[],
  found: readonly ShownKey[],
  pin: Pin,
  by: PinnedKey['by'],
): readonly PinnedKey[] {
  if (found.length === 0) return keys
  const names = new Set(found.map(({ entry }) => entry.key_id))
  return [...keys.filter(({ keyId }) => !names.has(keyId)), ...found.map((key) => pin(key, by))]
}

type Pin = (key: ShownKey, by: PinnedKey['by']) => PinnedKey

export function pinnerAt(now: string): Pin {
  return ({ entry, fingerprint }, by) => ({
    keyId: entry.key_id,
    use: entry.use,
    fingerprint,
    pinnedAt: now,
    by,
    ...ended(entry, now),
  })
}

function pinsOf(
  { agentId, organizationId, version }: ShownDirectory,
  rest: Pick<PeerPins, 'keys' | 'expected'>,
): PeerPins {
  return { agentId, organizationId, directoryVersion: version, ...rest }
}

function requireSameOrganization({ organizationId }: PeerPins, shown: ShownDirectory): void {
  if (organizationId === '' || organizationId === shown.organizationId) return
  throw mismatch('The directory shows the agent under another organization.', {
    agentId: shown.agentId,
    pinnedOrganizationId: organizationId,
    shownOrganizationId: shown.organizationId,
  })
}

/**
 * The key material of an id never changes. A revocation is permanent, and may only move earlier (ID-04). A key that is
 * no longer listed stays pinned.
 */
function compare(pinned: PinnedKey, shown: ShownDirectory, now: string): PinnedKey {
  const key = shown.keys.find(({ entry }) => entry.key_id === pinned.keyId)
  if (!key) return pinned
  const { entry, fingerprint } = key
  const details = {
    agentId: shown.agentId,
    keyId: pinned.keyId,
    pinnedFingerprint: pinned.fingerprint,
    shownFingerprint: fingerprint,
  }
  if (fingerprint !== pinned.fingerprint || entry.use !== pinned.use) {
    throw mismatch('The directory shows another key under the id of a pinned one.', details)
  }
  const { invalidFrom: end } = pinned
  if (end === undefined) return endOf(entry, now) === undefined ? pinned : { ...pinned, ...ended(entry, now) }
  const shownEnd = endOf(entry, end)
  if (shownEnd === undefined || isEarlier(end, shownEnd) !== false) {
    throw mismatch('The directory takes back the revocation of a pinned key.', details)
  }
  return isEarlier(shownEnd, end) === true ? { ...pinned, invalidFrom: shownEnd } : pinned
}

function ended(entry: ShownKey['entry'], now: string): Pick<PinnedKey, 'invalidFrom'> {
  const invalidFrom = endOf(entry, now)
  return invalidFrom === undefined ? {} : { invalidFrom }
}

/** Pins listed keys with a given fingerprint; the other fingerprints stay expected. */
function matchExpected(pins: PeerPins, shown: ShownDirectory, pin: Pin): Pick<PeerPins, 'keys' | 'expected'> {
  const matched = shown.keys.filter(({ fingerprint }) => pins.expected.includes(fingerprint))
  if (matched.length === 0) return pins
  const isMatched = (keyId: string) => matched.some(({ entry }) => entry.key_id === keyId)
  const kept = pins.keys.map((key): PinnedKey => (isMatched(key.keyId) ? { ...key, by: 'fingerprint' } : key))
  const added = matched.filter(({ entry }) => !kept.some(({ keyId }) => keyId === entry.key_id))
  return {
    keys: [...kept, ...added.map((key) => pin(key, 'fingerprint'))],
    expected: pins.expected.filter((given) => !matched.some(({ fingerprint }) => fingerprint === given)),
  }
}

/** Fingerprints were given, and no signing key matches one: this is not the agent that its owner described. */
function requireFingerprint(
  keys: readonly PinnedKey[],
  expected: readonly string[],
  shown: ShownDirectory,
): void {
  if (expected.length === 0 || keys.some(({ by, use }) => by === 'fingerprint' && use === 'signing')) return
  throw mismatch('The directory shows no key with the fingerprint that was given.', {
    agentId: shown.agentId,
    expected,
    shown: shown.keys.map(({ entry, fingerprint }) => ({
      keyId: entry.key_id,
      use: entry.use,
      fingerprint,
    })),
  })
}

function mismatch(what: string, details: Readonly<Record<string, unknown>>): ExchangeError {
  return new ExchangeError('peer_key_mismatch', { what, details })
}
