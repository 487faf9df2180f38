import { isEarlier } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { findIntroduced } from './find-introduced.ts'
import { endOf } from './key-end.ts'
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
  const introduced = await findIntroduced(shown, trusted, now)
  const keys = [...trusted, ...introduced.map((key) => pin(key, 'introduction'))]
  const isSame =
    before.directoryVersion === shown.version &&
    before.expected.length === expected.length &&
    keys.length === before.keys.length &&
    keys.every((key, index) => key === before.keys[index])
  return isSame ? before : pinsOf(shown, { keys, expected })
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
