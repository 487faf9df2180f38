import { ExchangeError } from '../errors.ts'
import type { PeerPins, PinnedKey } from './peer-directory.ts'

const FINGERPRINT = /^[A-Za-z0-9_-]{43}$/

/**
 * The pins after a fingerprint is trusted. It replaces trust on first use: keys pinned on first use, and keys that they
 * introduced, are dropped, and return if the trusted key introduces them.
 */
export function withTrusted(before: PeerPins | undefined, agentId: string, given: string): PeerPins {
  const fingerprint = given.trim()
  if (!FINGERPRINT.test(fingerprint)) {
    const what = 'A fingerprint is the RFC 7638 thumbprint of a key: 43 characters of base64url.'
    throw new ExchangeError('input_invalid', { what })
  }
  const { organizationId = '', directoryVersion = '', keys = [], expected = [] } = before ?? {}
  const matched = keys.map((key): PinnedKey =>
    key.fingerprint === fingerprint ? { ...key, by: 'fingerprint' } : key,
  )
  const cameFirst = keys.some(({ by }) => by === 'first-use')
  const kept = cameFirst ? matched.filter(({ by }) => by === 'fingerprint' || by === 'confirmation') : matched
  const isSeen = kept.some((key) => key.fingerprint === fingerprint)
  return {
    agentId,
    organizationId,
    directoryVersion,
    keys: kept,
    expected: isSeen || expected.includes(fingerprint) ? expected : [...expected, fingerprint],
  }
}
